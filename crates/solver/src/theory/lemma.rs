//! A clause of the theory together with the cycle that proves it.

use crate::lit::Lit;
use crate::order::At;
use crate::order::graph::Cause;

/// One edge of a cycle; between the end of one link and the start of the next lies a (possibly empty)
/// stretch of one chain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) from: At,
    pub(crate) to: At,
    pub(crate) cause: Cause,
}

/// Proof of a clause: either a cycle of links, or two sources of one read.
#[derive(Clone, Default, Debug)]
pub(crate) struct Lemma {
    pub(crate) links: Vec<Link>,
    pub(crate) two_sources: Option<(Lit, Lit)>,
}

impl Lemma {
    pub(crate) fn begin(&mut self) {
        self.links.clear();
        self.two_sources = None;
    }
}
