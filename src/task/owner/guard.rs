//! A guard that holds an owner.

use std::fmt;

use crate::core::owners::PauseChange;

use super::OwnerHandle;

/// The guard that [`Owner::pause_guard`](super::Owner::pause_guard) returns. Dropping it ends its
/// hold, and no other.
///
/// It does not keep the owner alive. After the owner, an owner above it or the
/// executor has been dropped, the guard has no effect.
///
/// [`std::mem::forget`] on a guard leaves the owner held.
#[must_use = "dropping the guard ends the hold: bind it, as in `let _frozen = enemy.pause_guard()`"]
pub struct PauseGuard {
    owner: OwnerHandle,
}

impl PauseGuard {
    pub(super) fn new(owner: OwnerHandle) -> Self {
        owner.change_pause(PauseChange::Hold);
        PauseGuard { owner }
    }
}

impl Drop for PauseGuard {
    fn drop(&mut self) {
        self.owner.change_pause(PauseChange::Release);
    }
}

impl fmt::Debug for PauseGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PauseGuard")
            .field("owner_alive", &self.owner.is_alive())
            .finish()
    }
}
