// Virtual calls, multiple and virtual inheritance, member pointers, operators, static members, RTTI.
#include <cstdio>
#include <typeinfo>
struct Shape { static int made; int id; Shape() : id(++made) {} virtual ~Shape() {} virtual int area() const = 0; virtual Shape *copy() const = 0; };
int Shape::made;
struct Named { const char *name = "?"; virtual const char *label() const { return name; } };
struct Square : Shape, Named { int side; explicit Square(int s) : side(s) { name = "square"; } int area() const override { return side * side; } Square *copy() const override { return new Square(*this); } };
struct Box : virtual Shape { int w, h; Box(int w, int h) : w(w), h(h) {} int area() const override { return w * h; } Box *copy() const override { return new Box(w, h); } int twice(int n) { return (w + h) * n; } };
struct Top { int t = 1; }; struct Left : virtual Top { int l = 2; }; struct Right : virtual Top { int r = 3; }; struct Bottom : Left, Right { int b = 4; int sum() { return t + l + r + b; } };
struct Vec { int x, y; Vec operator+(Vec o) const { return {x + o.x, y + o.y}; } int operator[](int i) const { return i ? y : x; } explicit operator bool() const { return x || y; } };
int main() {
  Square s(4); Box b(2, 5); const Shape *shapes[] = {&s, &b}; int total = 0;
  for (auto *shape : shapes) { Shape *c = shape->copy(); total += c->area() * c->id; delete c; }
  const Named *named = dynamic_cast<const Named *>(shapes[0]); int (Box::*member)(int) = &Box::twice; int Box::*field = &Box::h; int (Shape::*area)() const = &Shape::area;
  Bottom bottom; Vec v = Vec{1, 2} + Vec{3, 4};
  std::printf("%d %s %d %d %d %d %d %d %d\n", total, named->label(), (b.*member)(3), b.*field, (shapes[1]->*area)(), bottom.sum(), v[1], bool(v), typeid(*shapes[0]) == typeid(Square));
}
