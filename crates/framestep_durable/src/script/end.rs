//! How a script ends, and what becomes of its result.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::bytes::Marked;
use crate::ids::{Birth, Handled, ScriptId};
use crate::places::note;
use crate::script::shared::ends::PanickedScript;
use crate::script::{EndedScript, JoinError, ScriptCell, Shared, StopRequest, line_of};

impl Shared {
    /// Records how a script has ended.
    pub(crate) fn end(&self, cell: &ScriptCell, result: Result<Marked, JoinError>) {
        if self.scripts.alive.borrow_mut().remove(&cell.id).is_none() {
            return;
        }
        self.stops.asked.borrow_mut().remove(&cell.id);
        // The executor checks for a handle only after this.
        let coroutine = cell.coroutine.take();
        cell.drop_waits();
        self.events.drop_all_of(cell.id);
        // Of each script, whatever handles the host has: equal runs have equal saves.
        self.ends.count.set(self.ends.count.get() + 1);
        let ended = EndedScript {
            birth: cell.birth.get(),
            result,
            order: self.ends.count.get(),
            coroutine,
        };
        self.ends.results.borrow_mut().insert(cell.id, ended);
        if !self.handles.is_held(cell.id, cell.birth.get()) {
            let unneeded = self.ends.results.borrow_mut().remove(&cell.id);
            drop(unneeded);
        }
    }

    /// The result of a script that has ended. If it has panicked, the panic counts as joined.
    pub(crate) fn join(&self, id: ScriptId) -> Option<Result<Marked, JoinError>> {
        self.settle_stops();
        let (result, coroutine) = {
            let mut ended = self.ends.results.borrow_mut();
            let ended = ended.get_mut(&id)?;
            (ended.result.clone(), ended.coroutine.take())
        };
        if let Some(coroutine) = coroutine {
            // The destructor of the payload may use the runtime.
            drop(coroutine.take_output());
        }
        Some(result)
    }

    /// The place of a script among those that have ended. `None` if it has not.
    pub(crate) fn end_order(&self, id: ScriptId) -> Option<u64> {
        let order = self.ends.results.borrow().get(&id).map(|ended| ended.order);
        order.or_else(|| self.scripts.get(id).is_none().then_some(0))
    }

    /// Which script has a number, if it is alive or its result is kept; or which request to stop.
    pub(crate) fn birth(&self, id: ScriptId) -> Option<Birth> {
        if let Some(cell) = self.scripts.alive.borrow().get(&id) {
            return Some(cell.birth.get());
        }
        if let Some(request) = self.stops.requests.borrow().get(&id) {
            return Some(request.birth);
        }
        self.ends.results.borrow().get(&id).map(|ended| ended.birth)
    }

    /// Whether handles are of today's script of their number, and not of one that a restore or a
    /// rollback has taken back.
    pub(crate) fn is_valid(&self, of: Handled) -> bool {
        let is_it = |birth| self.birth(of.id) == Some(birth);
        of.epoch == self.handles.epoch.get() && of.birth.is_none_or(is_it)
    }

    /// Uncounts a handle. If it `counts`, then without handles, the result of a script is dropped. A script that is alive
    /// keeps that of the executor until its end: it may get handles again, from its number, and by a load.
    pub(crate) fn drop_handle(&self, of: Handled, counts: bool) {
        let is_last = self.handles.remove(of);
        if is_last && counts && self.is_valid(of) {
            let birth = self.birth(of.id);
            if birth.is_some_and(|birth| !self.handles.is_held(of.id, birth)) {
                let ended = self.ends.results.borrow_mut().remove(&of.id);
                drop(ended);
            }
        }
    }

    /// Notes that a run begins: drops the results of the scripts whose handles the host has not asked for
    /// since the restore.
    ///
    /// # Panics
    ///
    /// As the run, before anything changes.
    #[track_caller]
    pub(crate) fn begin_run(&self, call: &str) {
        if !self.handles.may_claim.get() {
            return;
        }
        self.door.assert_idle(call);
        self.handles.may_claim.set(false);
        // A payload of a panic that is dropped may use the runtime.
        let unclaimed = {
            let mut ended = self.ends.results.borrow_mut();
            let (held, unclaimed) = std::mem::take(&mut *ended)
                .into_iter()
                .partition::<BTreeMap<_, _>, _>(|(id, ended)| {
                    self.handles.is_held(*id, ended.birth)
                });
            *ended = held;
            unclaimed
        };
        drop(unclaimed);
    }

    /// Makes results of the requests that are over. To be called before something looks at results:
    /// so it makes no difference when it is called.
    pub(crate) fn settle_stops(&self) {
        let mut stops = self.stops.requests.borrow_mut();
        if stops.is_empty() {
            return;
        }
        let is_over = |request: &StopRequest| request.stop.is_none_or(|it| self.door.is_over(&it));
        let over: Vec<ScriptId> = stops
            .iter()
            .filter(|(_, request)| is_over(request))
            .map(|(&id, _)| id)
            .collect();
        for id in over {
            let request = stops.remove(&id).expect("it has been found");
            if self.handles.is_held(id, request.birth) {
                let ended = EndedScript {
                    birth: request.birth,
                    result: Ok(Marked::of(&request.left)),
                    order: 0,
                    coroutine: None,
                };
                self.ends.results.borrow_mut().insert(id, ended);
            }
        }
    }

    /// Notes where a script is that has panicked.
    #[cold]
    pub(crate) fn note_panic(&self, cell: &ScriptCell, text: &str) {
        let site = cell.chapter().journal.last_site();
        let places = cell.code.places;
        let statement = places
            .list
            .get(note::number_of(cell.here.get()) as usize)
            .map(|statement| format!("{}:{}", places.file, statement.line));
        self.ends.note_panic(PanickedScript {
            count: 0,
            script: cell.id,
            name: cell.code.name,
            frame: self.executor.time().map_or(0, |time| time.frame),
            text: text.to_owned(),
            statement,
            after: site.map(|site| self.sites.sites().place(site)),
            coroutine: cell.coroutine_id(),
        });
    }

    /// The error of a script that is being stopped.
    pub(crate) fn stopped(&self, cell: &ScriptCell) -> JoinError {
        let stopper = cell.coroutine_id().map(|id| self.door.stopper(id));
        let (by, place) = stopper.unwrap_or_default();
        let at = match (&by, place) {
            // No other stop by the runtime itself has a line.
            (None, None) => self.stops.line.borrow().clone(),
            (_, place) => place.map(line_of),
        };
        let by = by.map(Cow::into_owned);
        JoinError::Stopped { by, at }
    }
}
