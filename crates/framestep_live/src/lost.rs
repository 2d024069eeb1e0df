//! What new code may not do with scripts unless the user accepts it.

use framestep_durable::{Divergence, Policy, Registry, SaveState};

/// The same rule for exchanges, replacements and what an earlier process has left: a script whose code has changed
/// restarts its chapter, and one that could only be dropped, has lost a parameter or panics is a reason to refuse.
#[derive(Debug, Default)]
pub(crate) struct Lost {
    is_accepted: bool,
    first: Option<String>,
}

impl Lost {
    pub(crate) fn new(is_accepted: bool) -> Self {
        Lost {
            is_accepted,
            first: None,
        }
    }

    /// What becomes of a script that does not fit.
    pub(crate) fn policy(&mut self, divergence: &Divergence) -> Policy {
        let can_restart = divergence.entry.is_some();
        if self.is_accepted {
            return if can_restart {
                Policy::Restart
            } else {
                Policy::Drop
            };
        }
        if can_restart && !divergence.has_panicked() {
            return Policy::Restart;
        }
        self.first.get_or_insert_with(|| why_lost(divergence));
        Policy::Fail
    }

    /// Which script would be lost, and what can be done. `None` if none would.
    pub(crate) fn why(&self) -> Option<String> {
        self.first.clone()
    }
}

/// Refuses code whose scripts have fewer parameters than those of a described save: what they hold would be lost,
/// and the way back would be refused.
///
/// # Errors
///
/// The same as [`Lost::why`].
pub(crate) fn check_parameters(
    registry: &Registry,
    save: &SaveState,
    lost: &mut Lost,
) -> Result<(), String> {
    if lost.is_accepted {
        return Ok(());
    }
    let Some((script, name, parameters)) = registry.parameters_lost_of(save).into_iter().next()
    else {
        return Ok(());
    };
    let parameters: Vec<_> = parameters.iter().map(|it| format!("`{it}`")).collect();
    let why = format!(
        "`{name}` ({script}) would lose {}, which it has and its new parameters have not. If it was renamed, \
         write `#[serde(alias = \"..\")]`; otherwise a version that migrates; or accept that it is lost \
         (`Live::accept`)",
        parameters.join(" and ")
    );
    lost.first = Some(why.clone());
    Err(why)
}

fn why_lost(divergence: &Divergence) -> String {
    let Divergence {
        script,
        name,
        recorded,
        found,
        ..
    } = divergence;
    if divergence.has_panicked() {
        return format!("the new code of `{name}` ({script}) {found}");
    }
    format!(
        "`{name}` ({script}) would be lost: it had {recorded}, and {found}. If it was renamed, give it \
         its earlier name: `#[durable(name = \"{name}\")]`; if it has other parameters, a version \
         that migrates; or accept that it is dropped (`Live::accept`)"
    )
}
