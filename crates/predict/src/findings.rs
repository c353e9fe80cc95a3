//! From answers to findings: what is feasible is run again, and grouped by static place.
//!
//! Of candidates at the same instructions one is shown, the first that a replay confirms, and the others are counted.

use crate::confirm::Replayed;
use crate::places::{Tag, block, location, sites, tag};
use crate::prediction::{PredictError, Prediction};
use crate::refine::{Shown, show};
use crate::windows::Windows;
use claim::{Answer, Block, Candidate, Engine, Finding, Property, Standing, Unconfirmed, Witness};
use ctp::Ctp;
use ir::SiteId;
use rustc_hash::FxHashMap;

/// Most candidates of one static place that are replayed until one is confirmed.
const MOST_REPLAYS: usize = 3;

/// Most candidates of one static place that are replayed until one has a consequence, where only that makes it a finding: it may need a
/// certain round, or a certain object.
const MOST_REPLAYS_FOR_A_CONSEQUENCE: usize = 24;

impl Prediction {
    /// Groups what is feasible by static place, and replays. What turns out not to be is an answer of its own.
    pub(crate) fn find(
        &mut self,
        engine: &mut Option<Windows<'_>>,
        ctp: &Ctp,
        checks: &dyn Fn(&Candidate, &Witness) -> bool,
        replay: &mut dyn FnMut(&Candidate, &Witness) -> Replayed,
    ) -> Result<(), PredictError> {
        let mut groups: FxHashMap<(Tag, Vec<SiteId>), usize> = FxHashMap::default();
        let mut replays: Vec<usize> = vec![];
        // If the time does not suffice for all, what is surely a bug has been seen.
        let all_inferred = ctp.transactions.iter().all(|transaction| transaction.origin.is_inferred());
        let may_be_noise =
            |candidate: &Candidate| all_inferred && candidate.property() == Property::Atomicity;
        let (noise, sure): (Vec<_>, Vec<_>) =
            self.answers.iter_mut().partition(|(candidate, _)| may_be_noise(candidate));
        for (candidate, answer) in sure.into_iter().chain(noise) {
            let Answer::Feasible(witness) = answer else { continue };
            let events = candidate.events();
            let sites = sites(ctp, candidate);
            let known = groups.get(&(tag(candidate), sites.clone())).copied();
            if let Some(group) = known {
                let finding = &mut self.findings[group];
                if !wants_more(finding, replays[group]) {
                    finding.count_other(&events);
                    continue;
                }
            }
            let (found_by, known_run) = match self.decided.remove(candidate) {
                Some((engine, run)) => (engine, run),
                None => (Engine::Symbolic, None),
            };
            let shown = match (known_run, &mut *engine, found_by) {
                (Some(run), ..) => Shown::Replayed(run),
                (None, Some(engine), Engine::Symbolic) => show(engine, candidate, witness, checks, replay)?,
                (None, ..) => Shown::Replayed(replay(candidate, witness)),
            };
            let replayed = match shown {
                Shown::Replayed(replayed) => replayed,
                Shown::Not(found) => {
                    *answer = found;
                    continue;
                }
            };
            if let Some(group) = known {
                let finding = &mut self.findings[group];
                finding.count_other(&events);
                replays[group] += 1;
                let is_better = finding.standing != Standing::Confirmed || replayed.consequence.is_visible();
                if replayed.standing == Standing::Confirmed && is_better {
                    (finding.candidate, finding.witness) = (candidate.clone(), replayed.witness);
                    (finding.standing, finding.consequence) = (replayed.standing, replayed.consequence);
                    finding.engine = found_by;
                    (finding.run, finding.output) = (replayed.run, replayed.output);
                }
                continue;
            }
            groups.insert((tag(candidate), sites.clone()), self.findings.len());
            let Replayed { witness, standing, consequence, run, output, .. } = replayed;
            replays.push(1);
            self.findings.push(Finding {
                location: events.first().and_then(|&id| location(ctp, id)),
                block: block(ctp, candidate),
                candidate: candidate.clone(),
                sites,
                witness,
                engine: found_by,
                standing,
                consequence,
                others: 0,
                run,
                output,
            });
        }
        // Of findings with one consequence those come first that are likely the cause: what no guess about blocks is part of, then what
        // is, then the failure itself.
        let rank = |finding: &Finding| {
            let is_failure =
                matches!(finding.candidate, Candidate::Assertion { .. } | Candidate::Fault { .. });
            let is_guessed = finding.block.is_some_and(|block| block != Block::Marked);
            (finding.consequence.clone(), is_failure, is_guessed)
        };
        self.findings.sort_by(|a, b| rank(a).cmp(&rank(b)).then(a.candidate.cmp(&b.candidate)));
        Ok(())
    }
}

/// Whether more candidates of a finding's places are to be replayed after so many.
fn wants_more(finding: &Finding, replays: usize) -> bool {
    match finding.standing {
        Standing::Confirmed => {
            finding.is_inferred()
                && !finding.consequence.is_visible()
                && replays < MOST_REPLAYS_FOR_A_CONSEQUENCE
        }
        // Nothing that could be shown would be more.
        Standing::Predicted(Unconfirmed::NoSubject) => false,
        Standing::Predicted(_) => replays < MOST_REPLAYS,
    }
}
