//! What a program may do on ways that a run did not take (PRUNE §5.1): where the ways of a branch come together, what may be read and
//! written on them, and what pointers may point to.
//!
//! All of it is on the safe side: what is said to be impossible is impossible in every run.

mod addressed;
mod branches;
mod effects;
mod points_to;
mod post_dominators;
mod rounds;

pub use addressed::addressed;
pub use branches::{Branches, Side, Ways};
pub use effects::{Access, Effects, Obstacle};
pub use points_to::{Object, PointsTo, Targets};
pub use post_dominators::PostDominators;
