//! The sync test: each run is done twice from the same state, and must lead to the same state.

use std::any::{Any, type_name};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use serde::Serialize;

use crate::bytes::Bytes;
use crate::cell::{ScriptCell, ScriptId};
use crate::error::{SaveError, said_at};
use crate::hash::StableHash;
use crate::image::{SaveState, ScriptImage};
use crate::journal::Kind;
use crate::look::text_of;
use crate::questions::Questions;
use crate::replay::SiteNumbers;
use crate::shared::Shared;
use crate::site::{SiteId, Sites};

/// How a state that the host lends is copied, put back and compared. The functions are called
/// inside the executor.
#[derive(Clone, Copy)]
pub(crate) struct Lent {
    type_name: &'static str,
    /// `None` if it is not lent.
    copy: fn() -> Option<Box<dyn Any>>,
    put_back: fn(&dyn Any),
    checksum: fn() -> Option<u64>,
}

impl Lent {
    pub(crate) fn of<W: Clone + Serialize + 'static>() -> Self {
        Lent {
            type_name: type_name::<W>(),
            copy: || {
                let copy = |world: &W| -> Box<dyn Any> { Box::new(world.clone()) };
                framestep::try_with_ref(copy).ok()
            },
            put_back: |copy| {
                if let Some(copy) = copy.downcast_ref::<W>() {
                    framestep::with(|world: &mut W| world.clone_from(copy));
                }
            },
            checksum: || {
                let bytes = |world: &W| postcard::to_stdvec(world);
                let bytes = framestep::try_with_ref(bytes).ok()?;
                let bytes = bytes.unwrap_or_else(|error| {
                    panic!(
                        "the sync test cannot serialise a `{}`: {error}",
                        type_name::<W>()
                    )
                });
                let mut hash = StableHash::new();
                hash.add_bytes(&bytes);
                Some(hash.finish())
            },
        }
    }
}

impl fmt::Debug for Lent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.type_name)
    }
}

fn checksums(lent: &[Lent]) -> Vec<Option<u64>> {
    lent.iter().map(|lent| (lent.checksum)()).collect()
}

/// What scripts do in a run, in order: kept only to find a difference.
#[derive(Default)]
pub(crate) struct Trail {
    is_kept: Cell<bool>,
    lent: RefCell<Vec<Lent>>,
    events: RefCell<Vec<Event>>,
}

/// A script records an entry, or is about to do the effect of one.
#[derive(PartialEq)]
struct Event {
    script: ScriptId,
    /// The name of the script, which may have ended when something is said about it.
    name: &'static str,
    /// The number of the entry, from 1.
    entry: u32,
    kind: Kind,
    site: SiteId,
    /// `None` before an effect.
    value: Option<Bytes>,
    /// The checksums of the lent states.
    worlds: Vec<Option<u64>>,
}

impl Trail {
    #[inline]
    pub(crate) fn is_kept(&self) -> bool {
        self.is_kept.get()
    }

    /// Notes an entry, or, without a value, that its effect is about to be done.
    #[cold]
    pub(crate) fn note(
        &self,
        script: &ScriptCell,
        entry: u32,
        kind: Kind,
        site: SiteId,
        value: Option<&[u8]>,
    ) {
        let worlds = checksums(&self.lent.borrow());
        self.events.borrow_mut().push(Event {
            script: script.id,
            name: script.name(),
            entry,
            kind,
            site,
            value: value.map(Bytes::new),
            worlds,
        });
    }

    /// What is done in a run.
    fn of(&self, lent: &[Lent], run: &mut dyn FnMut()) -> Vec<Event> {
        /// A run may panic.
        struct Kept<'a>(&'a Cell<bool>);
        impl Drop for Kept<'_> {
            fn drop(&mut self) {
                self.0.set(false);
            }
        }
        self.lent.replace(lent.to_vec());
        self.events.take();
        self.is_kept.set(true);
        let kept = Kept(&self.is_kept);
        run();
        drop(kept);
        self.events.take()
    }
}

/// Tests each run of a runtime.
#[derive(Debug)]
pub(crate) struct SyncTest {
    lent: Vec<Lent>,
}

/// Everything that a run may change.
struct Before {
    save: SaveState,
    worlds: Vec<Option<Box<dyn Any>>>,
    /// The questions that the host has received.
    questions: Questions,
}

impl SyncTest {
    pub(crate) fn new(lent: Vec<Lent>) -> Self {
        SyncTest { lent }
    }

    /// Does a run, goes back, and does it again.
    ///
    /// # Panics
    ///
    /// If the states after both differ, or the runtime cannot go back.
    #[track_caller]
    pub(crate) fn run(&self, shared: &Rc<Shared>, call: &str, run: &mut dyn FnMut()) {
        shared.door.assert_idle(call);
        let Err(why) = self.try_run(shared, run) else {
            return;
        };
        let frame = shared.executor.time().map_or(0, |time| time.frame);
        panic!("the sync test of `{call}` failed in frame {frame}: {why}")
    }

    fn try_run(&self, shared: &Rc<Shared>, run: &mut dyn FnMut()) -> Result<(), String> {
        self.expect_all_listed(shared)?;
        let before = self.before(shared)?;
        run();
        let first = shared.save_state();
        let first = first.map_err(|error| shared.explain(error).to_string())?;
        let first_worlds = self.checksums(shared);
        self.go_back(shared, &before)?;
        run();
        let second = shared.save_state();
        let second = second.map_err(|error| shared.explain(error).to_string())?;
        if first.checksum() != second.checksum() || first_worlds != self.checksums(shared) {
            let found = self.find(shared, &before, run)?;
            return Err(found.unwrap_or_else(|| difference(&first, &second)));
        }
        replay_changed(shared, &before.save, &second)
    }

    /// The state before a run.
    fn before(&self, shared: &Rc<Shared>) -> Result<Before, String> {
        let save = shared.save_state();
        let save = save.map_err(|error| shared.explain(error).to_string())?;
        let copies = || self.lent.iter().map(|lent| (lent.copy)()).collect();
        Ok(Before {
            save,
            worlds: shared.executor.enter(copies).unwrap_or_default(),
            questions: shared.questions.clone(),
        })
    }

    fn go_back(&self, shared: &Rc<Shared>, before: &Before) -> Result<(), String> {
        let restored = shared.go_back(&before.save);
        restored.map_err(|error| SaveError::Verify(error).to_string())?;
        shared.questions.replace(&before.questions);
        shared.executor.enter(|| {
            for (lent, copy) in self.lent.iter().zip(&before.worlds) {
                if let Some(copy) = copy {
                    (lent.put_back)(&**copy);
                }
            }
        });
        // Scripts without a handle are detached again.
        shared.begin_run("run_frame");
        Ok(())
    }

    fn checksums(&self, shared: &Rc<Shared>) -> Vec<Option<u64>> {
        let checksums = || checksums(&self.lent);
        shared.executor.enter(checksums).unwrap_or_default()
    }

    /// Refuses a state that cannot be put back.
    fn expect_all_listed(&self, shared: &Rc<Shared>) -> Result<(), String> {
        let names = shared.door.names_of_lent();
        let is_listed = |name: &&str| self.lent.iter().any(|lent| lent.type_name == *name);
        match names.into_iter().find(|name| !is_listed(name)) {
            Some(name) => Err(format!(
                "the host lends a `{name}`, which the test does not know, so it cannot do a run \
                 twice: add `.sync_test::<{name}>()` to the builder of the runtime"
            )),
            None => Ok(()),
        }
    }

    /// Does the run twice more, and finds the first moment at which both differ. `None` if they
    /// do not.
    fn find(
        &self,
        shared: &Rc<Shared>,
        before: &Before,
        run: &mut dyn FnMut(),
    ) -> Result<Option<String>, String> {
        let mut trail = || {
            self.go_back(shared, before)?;
            Ok::<_, String>(shared.trail.of(&self.lent, run))
        };
        let (first, second) = (trail()?, trail()?);
        let same = first.iter().zip(&second).take_while(|(a, b)| a == b);
        let at = same.count();
        let sites = shared.sites.sites();
        Ok(match (first.get(at), second.get(at)) {
            (None, None) => None,
            (Some(one), Some(other)) => Some(said(&differ(one, other, &sites))),
            (Some(one), None) => Some(said(&format!("only the first time, {}", one.text(&sites)))),
            (None, Some(other)) => {
                let text = other.text(&sites);
                Some(said(&format!("only the second time, {text}")))
            }
        })
    }
}

/// Replays the chapters that have changed, with new futures.
fn replay_changed(
    shared: &Rc<Shared>,
    before: &SaveState,
    after: &SaveState,
) -> Result<(), String> {
    let is_unchanged = |image: &ScriptImage| {
        let known = before
            .scripts
            .binary_search_by_key(&image.id, |script| script.id);
        known.is_ok_and(|at| {
            let before = &before.scripts[at];
            before.journal.is(&image.journal) && before.has_begun == image.has_begun
        })
    };
    let changed = after.scripts.iter().filter(|image| !is_unchanged(image));
    for image in changed {
        let replayed = shared.replay(image, Some(after), &SiteNumbers::same(), true);
        let cell = replayed.map_err(|error| SaveError::Verify(error).to_string())?;
        cell.drop_trial();
    }
    Ok(())
}

/// What differs between the states after both runs.
fn difference(first: &SaveState, second: &SaveState) -> String {
    let differences = first.diff(second);
    match differences.first() {
        Some(difference) => {
            let mut text = String::new();
            let _ = difference.write(&mut text, "the second time,");
            said(&text)
        }
        None => said(
            "what the host lends differs after the run, and no effect of a script changes it \
             differently: look at the closures of `animate`, `wait_until` and `defer`, at what \
             they call, and at the results of every `with` before",
        ),
    }
}

/// A difference, as a whole sentence.
fn said(difference: &str) -> String {
    format!(
        "done again from the same state, it ends differently: {difference}. It depends on what is \
         in neither the world nor the runtime, such as a static, a random number or a clock of \
         the system, the order of a `HashMap`, or a field of a result of `with` that serde skips"
    )
}

/// Says how two events differ, one in each of two trails.
fn differ(one: &Event, other: &Event, sites: &Sites) -> String {
    let (text, other_text) = (one.text(sites), other.text(sites));
    match (&one.value, &other.value) {
        _ if text != other_text => format!("{text}; the second time, {other_text}"),
        (Some(value), Some(other)) if value != other => {
            let [value, other] = [value, other].map(|value| text_of(value.get()));
            format!("{text} returned {value}, and {other} the second time")
        }
        (Some(_), Some(_)) if matches!(one.kind, Kind::Effect | Kind::Panicked) => {
            format!("{text} changed what the host lends in two ways")
        }
        _ => format!(
            "what the host lends differs before this: {text}. Look at the closures of `animate`, \
             `wait_until` and `defer` before it"
        ),
    }
}

impl Event {
    /// The script, the entry and the call.
    fn text(&self, sites: &Sites) -> String {
        let (script, name, entry) = (self.script, self.name, self.entry);
        let text = said_at(self.kind, self.site, sites);
        format!("script `{name}` ({script}), entry {entry}: {text}")
    }
}
