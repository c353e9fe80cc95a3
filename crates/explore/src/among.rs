//! Decisions that come out in more than two ways: a switch, and a call or jump to an address.

use crate::paths::Decision;
use ctp::{Ctp, EventIndex, ExprId, Kind, Otherwise};
use encode::{Bool, Encoding, Result};
use ir::{Program, SiteId, SiteIndex, Terminator};

/// Which outcomes a decision has.
pub struct Among {
    site: SiteId,
    /// On what it depends.
    value: ExprId,
    outcomes: Outcomes,
}

enum Outcomes {
    /// One for each number; any other number leads to the last.
    Cases(Vec<(u128, Way)>, Way),
    /// The value itself.
    Value,
}

/// Where a case leads.
struct Way {
    outcome: u64,
    /// The call with which an assertion fails there; it stands in the place of the decision then.
    fails: Option<SiteId>,
}

impl Way {
    fn is(&self, of: SiteId, seen: Decision) -> bool {
        self.fails == Some(seen.site) || (of == seen.site && self.outcome == seen.outcome)
    }
}

impl Among {
    /// Those of an event; `None` if it has only two.
    pub fn of(program: &Program, sites: &SiteIndex, ctp: &Ctp, at: EventIndex) -> Option<Among> {
        let event = ctp.event(at);
        let (value, outcomes) = match event.kind {
            Kind::Branch { condition, .. } => {
                let place = sites.place(event.site)?;
                let terminator = &program.function(place.function).block(place.block).terminator;
                let Terminator::Switch { cases, default, .. } = terminator else { return None };
                let way = |n: usize, to| Way {
                    outcome: if ctp.compiled { terminator.first_to_the_same(n) } else { n } as u64,
                    fails: ir::failing_call(program, sites, place.function, to),
                };
                let numbers = cases.iter().enumerate().map(|(n, &(number, to))| (number, way(n, to)));
                (condition, Outcomes::Cases(numbers.collect(), way(cases.len(), *default)))
            }
            Kind::Require { otherwise: Otherwise::OtherPath { address }, .. } => (address, Outcomes::Value),
            _ => return None,
        };
        Some(Among { site: event.site, value, outcomes })
    }

    /// It comes out as in another run.
    pub fn is(&self, encoding: &mut Encoding<'_>, seen: Decision) -> Result<Bool> {
        let value = encoding.term(self.value)?;
        let bits = encoding.ctp().expressions.width(self.value).bits();
        let mut equals = |number: u128| {
            let number = encoding.solver().bv_const(number, bits)?;
            encoding.solver().bv_eq(value, number)
        };
        let (cases, default) = match &self.outcomes {
            Outcomes::Value => return equals(u128::from(seen.outcome)),
            Outcomes::Cases(cases, default) => (cases, default),
        };
        let (mut same, mut others) = (vec![], vec![]);
        for (number, way) in cases {
            let list = if way.is(self.site, seen) { &mut same } else { &mut others };
            list.push(equals(*number)?);
        }
        let solver = encoding.solver();
        match default.is(self.site, seen) {
            true => {
                let other = solver.or(&others)?;
                solver.not(other)
            }
            false => solver.or(&same),
        }
    }
}
