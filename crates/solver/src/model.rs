//! A satisfying assignment: values of variables, and one total order of all points.

use crate::order::At;
use crate::terms::eval::Leaves;
use rustc_hash::FxHashMap;

/// Values and an order that satisfy everything that was asserted.
///
/// Ask it through [`crate::Solver`]: `value_of`, `holds`, `is_before`, `order`, `source`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    pub(crate) bools: Vec<bool>,
    pub(crate) bvs: Vec<u128>,
    order: Order,
}

/// A total order of all points, given by the rank of some of them.
///
/// A point without a rank lies directly before the next point of its chain that has one.
#[derive(Clone, Debug, Default)]
struct Order {
    /// Per chain: (position, rank), sorted.
    ranked: FxHashMap<u32, Vec<(u32, u32)>>,
}

impl Model {
    pub(crate) fn new(bools: Vec<bool>, bvs: Vec<u128>, edges: &[(At, At)]) -> Model {
        let order = crate::linearize::topological(edges);
        Model { bools, bvs, order: Order::from_sequence(&order) }
    }

    /// The same values with another order, given as a sequence that contains each point with a constraint.
    pub(crate) fn with_sequence(&self, sequence: &[At]) -> Model {
        Model { bools: self.bools.clone(), bvs: self.bvs.clone(), order: Order::from_sequence(sequence) }
    }

    pub(crate) fn before(&self, a: At, b: At) -> bool {
        if a.chain == b.chain { a.position < b.position } else { self.key(a) < self.key(b) }
    }

    /// Points sort by their keys in the order of the model.
    pub(crate) fn key(&self, at: At) -> (u32, u32, u32) {
        let rank = self.order.ranked.get(&at.chain).and_then(|line| {
            let i = line.partition_point(|&(position, _)| position < at.position);
            line.get(i).map(|&(_, rank)| rank)
        });
        (rank.unwrap_or(u32::MAX), at.chain, at.position)
    }
}

impl Order {
    fn from_sequence(sequence: &[At]) -> Order {
        let mut ranked: FxHashMap<u32, Vec<(u32, u32)>> = FxHashMap::default();
        for (rank, at) in sequence.iter().enumerate() {
            ranked.entry(at.chain).or_default().push((at.position, rank as u32));
        }
        Order { ranked }
    }
}

impl Leaves for Model {
    fn bool_var(&self, var: u32) -> bool {
        self.bools.get(var as usize).copied().unwrap_or(false)
    }

    fn bv_var(&self, var: u32) -> u128 {
        self.bvs.get(var as usize).copied().unwrap_or(0)
    }

    fn before(&self, first: At, second: At) -> bool {
        Model::before(self, first, second)
    }
}
