//! Whether a node is well, for a load balancer or an orchestrator.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Whether a node is well, from [`Server::health`](crate::Server::health). It may be asked from any thread.
#[derive(Clone, Debug, Default)]
pub struct Health {
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    has_joined: AtomicBool,
    stops: AtomicBool,
    log_is_silent: AtomicBool,
    runs: AtomicUsize,
    follows: AtomicUsize,
}

impl Health {
    /// Whether the node has joined, does not stop, and the log answers.
    ///
    /// A node that is not ready should get no new work, and need not be restarted: while the log does not
    /// answer, no node is ready, and a restart mends nothing. One that hangs ends by itself.
    pub fn is_ready(&self) -> bool {
        let is = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        let state = &self.state;
        is(&state.has_joined) && !is(&state.stops) && !is(&state.log_is_silent)
    }

    /// How many shards the node runs.
    pub fn runs(&self) -> usize {
        self.state.runs.load(Ordering::Relaxed)
    }

    /// How many shards the node follows as a standby.
    pub fn follows(&self) -> usize {
        self.state.follows.load(Ordering::Relaxed)
    }

    pub(crate) fn join(&self) {
        self.state.has_joined.store(true, Ordering::Relaxed);
    }

    pub(crate) fn stop(&self) {
        self.state.stops.store(true, Ordering::Relaxed);
    }

    pub(crate) fn see(&self, runs: usize, follows: usize, log_is_silent: bool) {
        let state = &self.state;
        state.runs.store(runs, Ordering::Relaxed);
        state.follows.store(follows, Ordering::Relaxed);
        state.log_is_silent.store(log_is_silent, Ordering::Relaxed);
    }
}

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        let state = &self.state;
        let what = match () {
            () if is(&state.stops) => "stops",
            () if !is(&state.has_joined) => "starts",
            () if is(&state.log_is_silent) => "waits: the log does not answer",
            () => "ready",
        };
        write!(
            f,
            "{what}, runs {} shards, follows {}",
            self.runs(),
            self.follows()
        )
    }
}
