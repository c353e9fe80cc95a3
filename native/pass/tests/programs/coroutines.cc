// flags: -std=c++20
// Coroutines: a generator, a task that awaits another, exceptions out of one.
#include <coroutine>
#include <cstdio>
#include <exception>
#include <utility>
struct Generator { struct promise_type { int value; Generator get_return_object() { return Generator{std::coroutine_handle<promise_type>::from_promise(*this)}; } std::suspend_always initial_suspend() { return {}; } std::suspend_always final_suspend() noexcept { return {}; } std::suspend_always yield_value(int v) { value = v; return {}; } void return_void() {} void unhandled_exception() { std::terminate(); } };
  std::coroutine_handle<promise_type> handle; explicit Generator(std::coroutine_handle<promise_type> h) : handle(h) {} Generator(Generator &&o) : handle(std::exchange(o.handle, {})) {} ~Generator() { if (handle) handle.destroy(); } bool next() { handle.resume(); return !handle.done(); } int value() { return handle.promise().value; } };
struct Task { struct promise_type { int result = 0; std::exception_ptr error; std::coroutine_handle<> waiting = std::noop_coroutine(); Task get_return_object() { return Task{std::coroutine_handle<promise_type>::from_promise(*this)}; } std::suspend_always initial_suspend() { return {}; } struct Final { bool await_ready() noexcept { return false; } std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> h) noexcept { return h.promise().waiting; } void await_resume() noexcept {} }; Final final_suspend() noexcept { return {}; } void return_value(int v) { result = v; } void unhandled_exception() { error = std::current_exception(); } };
  std::coroutine_handle<promise_type> handle; ~Task() { if (handle) handle.destroy(); } explicit Task(std::coroutine_handle<promise_type> h) : handle(h) {} Task(Task &&o) : handle(std::exchange(o.handle, {})) {} bool await_ready() { return false; } std::coroutine_handle<> await_suspend(std::coroutine_handle<> h) { handle.promise().waiting = h; return handle; } int await_resume() { if (handle.promise().error) std::rethrow_exception(handle.promise().error); return handle.promise().result; } };
static Generator squares(int n) { for (int i = 0; i < n; i++) co_yield i * i; }
static Task leaf(int n) { if (n == 3) throw 33; co_return n * 10; }
static Task tree(int n) { int sum = 0; for (int i = 0; i < n; i++) { try { sum += co_await leaf(i); } catch (int e) { sum += e; } } co_return sum; }
int main() { int sum = 0; auto generator = squares(5); while (generator.next()) sum = sum * 7 + generator.value(); Task task = tree(5); task.handle.resume(); std::printf("%d %d\n", sum, task.handle.promise().result); }
