//! A linked program, and how the numbers of its modules are found in it.
//!
//! A running program names its sites module by module: a module's own numbers, behind the number of its first site. Linking
//! moves functions as a whole, so a site keeps its distance from the first site of its function, and one number for
//! each function is all that is needed in both directions.

use crate::NativeError;
use crate::link::Links;
use crate::record::Module;
use crate::rewrite::Target;
use abi::unit::MOST_SITES;
use ir::{FunctionId, GlobalId, Program, SiteId};
use std::collections::BTreeSet;

/// The program of a binary, and the modules that it was made of.
#[derive(Clone, Debug)]
pub struct Linked {
    /// The program.
    pub program: Program,
    /// Its modules, in the order of the binary. A module that is there twice has the same numbers of sites in the log both times.
    pub modules: Vec<LinkedModule>,
    /// For each function of the program its first site, and the same in the log.
    first_sites: Vec<(u32, u32)>,
    sites: u32,
    /// The globals that pointers may lead to.
    pub addressed: BTreeSet<GlobalId>,
}

/// A module of a linked program.
#[derive(Clone, Debug)]
pub struct LinkedModule {
    /// Its [`abi::Header::id`].
    pub id: u64,
    /// The number of its first site in the log.
    pub first: u32,
    /// How many sites it has.
    pub sites: u32,
    /// For each function of the module: its first site there, and its first site in the program.
    functions: Vec<(u32, SiteId)>,
    function_targets: Vec<Target>,
    global_targets: Vec<Target>,
}

impl LinkedModule {
    /// The site of the program that a site of the module has become.
    #[must_use]
    pub fn site(&self, local: u32) -> Option<SiteId> {
        if local >= self.sites {
            return None;
        }
        let at = self.functions.partition_point(|&(first, _)| first <= local).checked_sub(1)?;
        let (first, site) = self.functions[at];
        Some(SiteId(site.0 + (local - first)))
    }

    /// The function of the program that a function of the module means: itself, or the definition that the linker took.
    #[must_use]
    pub fn function(&self, local: u32) -> Option<FunctionId> {
        match *self.function_targets.get(local as usize)? {
            Target::Function(function) => Some(function),
            Target::Global(_) => None,
        }
    }

    /// The global of the program that a global of the module means; `None` if it is a function of another module.
    #[must_use]
    pub fn global(&self, local: u32) -> Option<GlobalId> {
        match *self.global_targets.get(local as usize)? {
            Target::Global(global) => Some(global),
            Target::Function(_) => None,
        }
    }
}

impl Linked {
    pub(crate) fn new(
        program: Program,
        ids: &[u64],
        modules: &[Module],
        links: Vec<Links>,
    ) -> Result<Linked, NativeError> {
        let (first_of, sites) = first_sites(&program);
        let mut first_sites_in_log = vec![0; first_of.len()];
        let (mut linked, mut next): (Vec<LinkedModule>, u32) = (vec![], 1);
        for ((&id, module), links) in ids.iter().zip(modules).zip(links) {
            let (local, sites) = first_sites(&module.program);
            let known = linked.iter().find(|module| module.id == id).map(|module| module.first);
            let first = known.unwrap_or(next);
            if known.is_none() {
                next = next
                    .checked_add(sites)
                    .filter(|&next| next <= MOST_SITES + 1)
                    .ok_or(NativeError::TooManySites { limit: MOST_SITES })?;
            }
            for (&(function, own), &local) in links.code.iter().zip(&local) {
                if own {
                    first_sites_in_log[function.index()] = first + local;
                }
            }
            let code = links.code.iter().map(|(function, _)| SiteId(first_of[function.index()]));
            linked.push(LinkedModule {
                id,
                first,
                sites,
                functions: local.into_iter().zip(code).collect(),
                function_targets: links.functions,
                global_targets: links.globals,
            });
        }
        let first_sites = first_of.into_iter().zip(first_sites_in_log).collect();
        let addressed = ir::analysis::addressed(&program);
        Ok(Linked { program, modules: linked, first_sites, sites, addressed })
    }

    /// The module that a number of a site in the log belongs to.
    #[must_use]
    pub fn module(&self, log_site: u32) -> Option<&LinkedModule> {
        let has = |module: &&LinkedModule| (module.first..module.first + module.sites).contains(&log_site);
        self.modules.iter().find(has)
    }

    /// The site that a number of the log stands for.
    #[must_use]
    pub fn site(&self, log_site: u32) -> Option<SiteId> {
        let module = self.module(log_site)?;
        module.site(log_site - module.first)
    }

    /// The number by which the log names a site: that of the definition that the linker took, where there are several.
    #[must_use]
    pub fn log_site(&self, site: SiteId) -> Option<u32> {
        if site.0 >= self.sites {
            return None;
        }
        let at = self.first_sites.partition_point(|&(first, _)| first <= site.0).checked_sub(1)?;
        let (first, in_log) = self.first_sites[at];
        Some(in_log + (site.0 - first))
    }
}

/// The first site of each function, and the number of all sites, as [`ir::SiteIndex`] has them.
fn first_sites(program: &Program) -> (Vec<u32>, u32) {
    let (mut first, mut next) = (vec![], 0);
    for function in &program.functions {
        first.push(next);
        next += function.blocks.iter().map(|block| block.instructions.len() as u32 + 1).sum::<u32>();
    }
    (first, next)
}
