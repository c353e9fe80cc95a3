//! What a test has compared, to be told at its end.

use std::collections::BTreeMap;
use std::fmt::Display;

/// What was compared.
#[derive(Debug, Default)]
pub struct Compared {
    /// Programs of which both could be asked.
    pub programs: u64,
    /// Why others could not.
    pub left_out: BTreeMap<&'static str, u64>,
    /// Programs with such findings.
    pub with: BTreeMap<&'static str, u64>,
    /// Classes of schedules, runs that pruning left when all is looked for and when assertions are, combinations of paths.
    pub classes: u64,
    pub pruned: u64,
    pub pruned_for_assertions: u64,
    pub combinations: u64,
    /// Searches that could say only a part.
    partial: BTreeMap<String, u64>,
}

impl Compared {
    /// A program could not be compared.
    pub fn left_out(&mut self, why: &'static str) {
        *self.left_out.entry(why).or_default() += 1;
    }

    pub fn add(&mut self, more: &Compared) {
        self.programs += more.programs;
        self.classes += more.classes;
        self.pruned += more.pruned;
        self.pruned_for_assertions += more.pruned_for_assertions;
        self.combinations += more.combinations;
        for (to, from) in [(&mut self.left_out, &more.left_out), (&mut self.with, &more.with)] {
            from.iter().for_each(|(what, n)| *to.entry(what).or_default() += n);
        }
        more.partial.iter().for_each(|(why, n)| *self.partial.entry(why.clone()).or_default() += n);
    }

    /// Some search could say only a part, for these reasons.
    pub fn partial(&mut self, search: &str, why: impl IntoIterator<Item = impl Display>) {
        for why in why {
            *self.partial.entry(format!("{search}: {why}")).or_default() += 1;
        }
    }

    /// How many programs there were.
    pub fn drawn(&self) -> u64 {
        self.programs + self.left_out.values().sum::<u64>()
    }
}
