//! Points in time and what is known of their order.
//!
//! A *point* lies on a *chain*: a line of points whose mutual order is fixed by their position (program
//! order of one thread). Points of one chain cost nothing. Order between chains is kept as a transitive
//! closure in the form of staircases ([`closure`]), and the edges that it came from are kept as a graph
//! ([`graph`]), so that each consequence can be explained by the shortest path of edges.

pub(crate) mod closure;
pub(crate) mod graph;
mod point;

pub(crate) use point::{At, Owner};
pub use point::{Chain, Point};
