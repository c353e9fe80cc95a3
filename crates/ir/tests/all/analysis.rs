//! What ways of a branch may do, and what pointers may point to, on a small program.

use ir::analysis::{Branches, Object, Obstacle, PointsTo};
use ir::{BlockId, FunctionId, GlobalId, Operand, ValueId};

const PROGRAM: &str = r#"program "ways.tb"
file !0 = "ways.tb"
shape #0 = int 4 signed
shape #1 = array 4 #0
shape #2 = pointer #0
global @x #0 = zero
global @y #0 = zero
global @a #1 = zero
global @p #2 = bytes "0000000000000000" [0: @x]
global @q #2 = zero

function $set(%0:k i32) {
b0:
  store %0, @y
  return
}

function $T() {
b0:
  %0 = load i32 @x
  %1 = cmp eq i1 %0, 1i32
  branch %1, b1, b2
b1:
  call $set(%0)
  %2 = load ptr @p
  store 3i32, %2
  %3 = address ptr @a + 8
  store 1i32, %3
  jump b3
b2:
  %4 = load ptr @q
  %5 = load i32 %4
  jump b3
b3:
  %6 = cmp eq i1 %0, 2i32
  branch %6, b4, b5
b4:
  %7 = address ptr @a + %0 * 4
  store 1i32, %7
  jump b5
b5:
  return
}

thread T = $T
"#;

const T: FunctionId = FunctionId(1);

#[test]
fn a_way_may_write_what_it_calls_and_points_to() {
    let program = ir::parse(PROGRAM).expect("it parses");
    let ways = Branches::new(&program).ways(T, BlockId(0)).expect("the ways come together");
    assert_eq!(ways.merge, BlockId(3));
    let [then, other] = &ways.sides[..] else { panic!("two ways") };
    assert!(then.effects.obstacles.is_empty(), "{:?}", then.effects);
    let written: Vec<(GlobalId, u64)> = (then.effects.accesses.iter())
        .filter(|access| access.writes)
        .map(|access| (access.global, access.offset))
        .collect();
    assert_eq!(written, [(GlobalId(0), 0), (GlobalId(1), 0), (GlobalId(2), 8)]);
    assert_eq!((then.blocks.len(), then.last.len()), (1, 1));
    // What starts as null may be null.
    assert!(other.effects.obstacles.contains(&Obstacle::Address));
}

#[test]
fn an_index_that_is_not_known_is_an_obstacle() {
    let program = ir::parse(PROGRAM).expect("it parses");
    let ways = Branches::new(&program).ways(T, BlockId(3)).expect("the ways come together");
    assert_eq!(ways.merge, BlockId(5));
    assert!(ways.sides[0].effects.obstacles.contains(&Obstacle::Address));
    // The other way is none: it leads to the merge point at once.
    let direct = &ways.sides[1];
    assert!(direct.blocks.is_empty() && direct.effects.accesses.is_empty());
    assert_eq!(direct.last.iter().copied().collect::<Vec<_>>(), [BlockId(3)]);
}

#[test]
fn pointers_point_to_what_was_stored_in_them() {
    let program = ir::parse(PROGRAM).expect("it parses");
    let points_to = PointsTo::new(&program);
    let loaded = |value| points_to.of(T, &Operand::Value(ValueId(value)));
    let p = loaded(2);
    assert_eq!(p.places.into_iter().collect::<Vec<_>>(), [(Object::Global(GlobalId(0)), Some(0))]);
    assert!(!p.other && loaded(4).other);
    assert_eq!(loaded(7).places.into_iter().collect::<Vec<_>>(), [(Object::Global(GlobalId(2)), None)]);
}
