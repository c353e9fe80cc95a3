//! Events in words.

use crate::Result;
use crate::event::{Access, Action, Event};
use crate::outcome::integer;
use crate::unfold::Unfolding;
use ir::Order;
use solver::Solution;

/// What an event does; with a model also with which values.
pub(crate) fn event(unfolding: &Unfolding, event: &Event, model: Option<&Solution<'_>>) -> Result<String> {
    Ok(match &event.action {
        Action::Begin => "begin".to_owned(),
        Action::End => "end".to_owned(),
        Action::Read => format!("read {}", accessed(unfolding, event, model)?),
        Action::Write => format!("write {}", accessed(unfolding, event, model)?),
        Action::Update => format!("update {}", accessed(unfolding, event, model)?),
        Action::Fence => format!("fence {}", event.order.map_or("", order)),
        Action::Branch(taken) => match model {
            None => "branch".to_owned(),
            Some(model) if model.holds(*taken)? => "branch taken".to_owned(),
            Some(_) => "branch not taken".to_owned(),
        },
        Action::Enter(_) => "enter atomic".to_owned(),
        Action::Exit(_) => "exit atomic".to_owned(),
        Action::Fork(thread) => format!("fork {}", unfolding.threads[thread.index()].name),
        Action::Join(joined) => {
            let mut name = None;
            for (thread, when) in joined {
                if model.map_or(Ok(true), |model| model.holds(*when))? {
                    name = Some(&unfolding.threads[thread.index()].name);
                }
            }
            format!("join {}", name.map_or("", |name| name))
        }
        Action::Sync(word) => format!("{word} {}", accessed(unfolding, event, model)?),
        Action::Free => "free".to_owned(),
        Action::Check(check) => match model.map(|model| model.holds(check.holds)).transpose()? {
            Some(false) => format!("{} fails", check.what),
            _ => check.what.to_owned(),
        },
    })
}

/// The memory order of an atomic access, as the language writes it.
pub(crate) fn order(order: Order) -> &'static str {
    match order {
        Order::Relaxed => "relaxed",
        Order::Acquire => "acquire",
        Order::Release => "release",
        Order::AcqRel => "acq_rel",
        Order::SeqCst => "seq_cst",
    }
}

/// The cell that an event accesses, with its value.
fn accessed(unfolding: &Unfolding, event: &Event, model: Option<&Solution<'_>>) -> Result<String> {
    let sync = matches!(event.action, Action::Sync(_));
    let mut names: Vec<String> = vec![];
    for access in &event.accesses {
        let cell = &unfolding.memory.cells[access.cell.index()];
        let helper = cell.internal && (!sync || cell.name.contains(' '));
        let here = match model {
            Some(model) => model.holds(access.when)?,
            None => true,
        };
        if helper || !here {
            continue;
        }
        names.push(match model {
            Some(model) if !sync => format!("{}{}", cell.name, values(unfolding, access, model)?),
            _ => cell.name.clone(),
        });
    }
    names.dedup();
    Ok(names.join(if model.is_some() { ", " } else { " or " }))
}

fn values(unfolding: &Unfolding, access: &Access, model: &Solution<'_>) -> Result<String> {
    let cell = &unfolding.memory.cells[access.cell.index()];
    let show = |bits| integer(cell.width, bits, cell.signed);
    let old = access.read.map(|term| model.value(term)).transpose()?.map(show);
    let new = match access.write {
        Some((term, when)) if model.holds(when)? => Some(show(model.value(term)?)),
        _ => None,
    };
    Ok(match (old, new) {
        (Some(old), Some(new)) => format!(" = {old} to {new}"),
        (Some(value), None) | (None, Some(value)) => format!(" = {value}"),
        (None, None) => String::new(),
    })
}
