//! What forks and joins order: what is before a fork with all of the new thread, all of a thread with what is after its join, and both
//! through any number of threads between, whether these do anything themselves or not.

use crate::Result;
use crate::event::{Action, EventId};
use crate::graph::{Graph, Relation};
use solver::Bool;
use std::collections::BTreeMap;

/// Pairs of nodes of different threads that forks and joins order.
pub(crate) fn fork_join(graph: &mut Graph) -> Result<Relation> {
    let is_hub =
        |id: &EventId| matches!(graph.unfolding.events[id.index()].action, Action::Fork(_) | Action::Join(_));
    let hubs: Vec<EventId> = (0..graph.unfolding.events.len() as u32).map(EventId).filter(is_hub).collect();
    let mut between = Between { graph, reach: BTreeMap::new() };
    between.close(&hubs)?;
    let mut relation = Relation::new();
    for i in 0..between.graph.nodes.len() {
        let Some(from) = between.graph.nodes[i].event else { continue };
        let mut reached: Vec<(EventId, Bool)> = vec![];
        for &hub in &hubs {
            let mut ways: Vec<Bool> = between.step(from, hub)?.into_iter().collect();
            for &first in &hubs {
                if let (Some(on), Some(to)) =
                    (between.reach.get(&(first, hub)).copied(), between.step(from, first)?)
                {
                    ways.push(between.graph.and(&[to, on])?);
                }
            }
            if !ways.is_empty() {
                reached.push((hub, between.graph.unfolding.solver.or(&ways)?));
            }
        }
        for j in 0..between.graph.nodes.len() {
            let Some(to) = between.graph.nodes[j].event else { continue };
            if between.graph.thread(i) == between.graph.thread(j) {
                continue;
            }
            let mut ways = vec![];
            for &(hub, there) in &reached {
                if let Some(on) = between.step(hub, to)? {
                    let both = [between.graph.nodes[i].happens, between.graph.nodes[j].happens];
                    ways.push(between.graph.and(&[there, on, both[0], both[1]])?);
                }
            }
            if !ways.is_empty() {
                let any = between.graph.unfolding.solver.or(&ways)?;
                relation.insert((i, j), any);
            }
        }
    }
    Ok(relation)
}

struct Between<'g> {
    graph: &'g mut Graph,
    /// From forks and joins to others.
    reach: BTreeMap<(EventId, EventId), Bool>,
}

impl Between<'_> {
    /// When one event is before another by program order, one fork, or one join.
    fn step(&mut self, a: EventId, b: EventId) -> Result<Option<Bool>> {
        let events = &self.graph.unfolding.events;
        let (from, to) = (&events[a.index()], &events[b.index()]);
        let when = match (&from.action, &to.action) {
            _ if from.thread == to.thread && a < b => None,
            (Action::Fork(child), _) if *child == to.thread => None,
            (_, Action::Join(joined)) => match joined.iter().find(|(thread, _)| *thread == from.thread) {
                Some(&(_, when)) => Some(when),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        let mut literals = vec![from.happens, to.happens];
        literals.extend(when);
        Ok(Some(self.graph.and(&literals)?))
    }

    /// All ways between forks and joins (S. Warshall).
    fn close(&mut self, hubs: &[EventId]) -> Result<()> {
        for &a in hubs {
            for &b in hubs.iter().filter(|&&b| b != a) {
                if let Some(step) = self.step(a, b)? {
                    self.reach.insert((a, b), step);
                }
            }
        }
        for &middle in hubs {
            for &a in hubs {
                for &b in hubs {
                    let (Some(&first), Some(&second)) =
                        (self.reach.get(&(a, middle)), self.reach.get(&(middle, b)))
                    else {
                        continue;
                    };
                    let mut ways = vec![self.graph.and(&[first, second])?];
                    ways.extend(self.reach.get(&(a, b)));
                    let any = self.graph.unfolding.solver.or(&ways)?;
                    self.reach.insert((a, b), any);
                }
            }
        }
        Ok(())
    }
}
