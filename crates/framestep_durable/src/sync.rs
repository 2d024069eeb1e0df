//! The sync test: each run is done twice from the same state, and must lead to the same state.

use std::any::{Any, type_name};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes::Bytes;
use crate::cell::{ScriptCell, ScriptId};
use crate::effects::{Effects, Hashing};
use crate::error::{SaveError, said_at};
use crate::hash::StableHash;
use crate::image::{SaveState, ScriptImage};
use crate::journal::Kind;
use crate::look::text_of;
use crate::questions::Questions;
use crate::replay::SiteNumbers;
use crate::shared::Shared;
use crate::site::{SiteId, Sites};
use crate::tree::Tree;

/// How a state that the host lends is copied, put back and compared. The functions are called
/// inside the executor.
#[derive(Clone, Copy)]
pub(crate) struct Lent {
    summed: Summed,
    /// `None` if it is not lent.
    copy: fn() -> Option<Box<dyn Any>>,
    put_back: fn(&dyn Any),
    /// Replaces it by what is read of its bytes, or says why not. `None` if that is not tested.
    read_back: Option<fn() -> Result<(), String>>,
}

/// How a state that the host lends is hashed. The function is called inside the executor.
#[derive(Clone, Copy)]
pub(crate) struct Summed {
    type_name: &'static str,
    /// `None` if it is not lent.
    checksum: fn() -> Option<u64>,
}

impl Summed {
    pub(crate) fn of<W: Serialize + 'static>() -> Self {
        Summed {
            type_name: type_name::<W>(),
            checksum: || {
                let bytes = |world: &W| postcard::to_stdvec(world);
                let bytes = framestep::lend::try_with_ref(bytes).ok()?;
                let bytes = bytes.unwrap_or_else(|error| {
                    panic!(
                        "a lent `{}` cannot be serialised for a checksum: {error}",
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

impl fmt::Debug for Summed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.type_name)
    }
}

/// The states that are lent, as one hash.
fn hash_of(summed: &[Summed]) -> u64 {
    let mut hash = StableHash::new();
    for summed in summed {
        match (summed.checksum)() {
            Some(checksum) => hash.add(checksum),
            None => hash.add(0),
        }
    }
    hash.finish()
}

impl Lent {
    pub(crate) fn of<W: Clone + Serialize + 'static>() -> Self {
        Lent {
            summed: Summed::of::<W>(),
            copy: || {
                let copy = |world: &W| -> Box<dyn Any> { Box::new(world.clone()) };
                framestep::lend::try_with_ref(copy).ok()
            },
            put_back: |copy| {
                if let Some(copy) = copy.downcast_ref::<W>() {
                    framestep::with(|world: &mut W| world.clone_from(copy));
                }
            },
            read_back: None,
        }
    }

    /// The same for a state that is also written and read back.
    pub(crate) fn through_bytes<W>() -> Self
    where
        W: Clone + Serialize + DeserializeOwned + 'static,
    {
        Lent {
            read_back: Some(|| framestep::lend::try_with(read_back::<W>).unwrap_or(Ok(()))),
            ..Lent::of::<W>()
        }
    }
}

/// Replaces a world by what is read of its bytes.
fn read_back<W: Serialize + DeserializeOwned>(world: &mut W) -> Result<(), String> {
    let refused = |what: &str, why: &dyn fmt::Display| {
        let name = type_name::<W>();
        format!("a world of type `{name}` cannot be {what}: {why}")
    };
    let written = postcard::to_stdvec(world).map_err(|why| refused("written", &why))?;
    let read: W = postcard::from_bytes(&written).map_err(|why| refused("read back", &why))?;
    let again = postcard::to_stdvec(&read).map_err(|why| refused("written again", &why))?;
    if again != written {
        let name = type_name::<W>();
        let trees = (Tree::of(world), Tree::of(&read));
        let differs = match &trees {
            (Ok(before), Ok(after)) => before.difference(after),
            _ => None,
        };
        let differs = differs.unwrap_or_else(|| "it has other bytes".to_owned());
        return Err(format!(
            "a world of type `{name}` is another one after it was written and read back: {differs}. A \
             `HashMap` or a `HashSet` has another order in each process: use a `BTreeMap` or an \
             `IndexMap`. Else its `Serialize` and its `Deserialize` do not fit"
        ));
    }
    *world = read;
    Ok(())
}

impl fmt::Debug for Lent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.summed.fmt(f)
    }
}

fn checksums(lent: &[Lent]) -> Vec<Option<u64>> {
    lent.iter().map(|lent| (lent.summed.checksum)()).collect()
}

/// What scripts do, in order: kept only to find a difference.
#[derive(Default)]
pub(crate) struct Trail {
    /// Whether any of it is kept.
    is_kept: Cell<bool>,
    /// Whether the events of a run are.
    keeps_events: Cell<bool>,
    lent: RefCell<Vec<Lent>>,
    events: RefCell<Vec<Event>>,
    /// The states that are hashed around each effect. Empty if none are.
    hashed: RefCell<Vec<Summed>>,
    hashing: RefCell<Hashing>,
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

    /// Hashes these states before and after each effect from now on.
    pub(crate) fn hash_effects(&self, summed: Vec<Summed>) {
        self.is_kept.set(!summed.is_empty());
        self.hashed.replace(summed);
    }

    /// The latest effects, if they are hashed.
    pub(crate) fn effects(&self) -> Effects {
        self.hashing.borrow().effects()
    }

    /// Goes back to the effects of a save state.
    pub(crate) fn replace_effects(&self, effects: &Effects) {
        if !self.hashed.borrow().is_empty() {
            self.hashing.borrow_mut().replace(effects.clone());
        }
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
        if matches!(kind, Kind::Effect | Kind::Panicked) {
            self.hash(script, entry, kind, site, value.is_none());
        }
        if !self.keeps_events.get() {
            return;
        }
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

    /// Hashes the lent states before or after an effect.
    fn hash(&self, script: &ScriptCell, entry: u32, kind: Kind, site: SiteId, begins: bool) {
        // The `Serialize` of the host is called, so nothing is borrowed.
        let summed = self.hashed.borrow().clone();
        if summed.is_empty() {
            return;
        }
        let hash = hash_of(&summed);
        let mut hashing = self.hashing.borrow_mut();
        if begins {
            hashing.begin(script.id, entry, hash);
        } else {
            hashing.end(script, entry, kind, site, hash);
        }
    }

    /// What is done in a run.
    fn of(&self, lent: &[Lent], run: &mut dyn FnMut()) -> Vec<Event> {
        /// A run may panic.
        struct Kept<'a>(&'a Trail);
        impl Drop for Kept<'_> {
            fn drop(&mut self) {
                self.0.keeps_events.set(false);
                let is_kept = !self.0.hashed.borrow().is_empty();
                self.0.is_kept.set(is_kept);
            }
        }
        self.lent.replace(lent.to_vec());
        self.events.take();
        self.keeps_events.set(true);
        self.is_kept.set(true);
        let kept = Kept(self);
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
        // The runtime goes on from the second run, with the state as it is.
        self.read_back(shared)?;
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
            return Err(found.unwrap_or_else(|events| {
                let suspects = || suspects(&events, &before.save, &shared.sites.sites());
                let is_hashed = first.first_effect(&second).is_some();
                let suspects = if is_hashed { None } else { suspects() };
                suspects.unwrap_or_else(|| difference(&first, &second))
            }));
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

    /// Replaces the lent states by what is read of their bytes, if that is tested.
    fn read_back(&self, shared: &Rc<Shared>) -> Result<(), String> {
        let read_back = || {
            let mut read = self.lent.iter().filter_map(|lent| lent.read_back);
            read.try_for_each(|read| read())
        };
        shared.executor.enter(read_back).unwrap_or(Ok(()))
    }

    fn checksums(&self, shared: &Rc<Shared>) -> Vec<Option<u64>> {
        let checksums = || checksums(&self.lent);
        shared.executor.enter(checksums).unwrap_or_default()
    }

    /// Refuses a state that cannot be put back.
    fn expect_all_listed(&self, shared: &Rc<Shared>) -> Result<(), String> {
        let names = shared.door.names_of_lent();
        let is_listed = |name: &&str| self.lent.iter().any(|lent| lent.summed.type_name == *name);
        match names.into_iter().find(|name| !is_listed(name)) {
            Some(name) => Err(format!(
                "the host lends a `{name}`, which the test does not know, so it cannot do a run \
                 twice: add `.sync_test::<{name}>()` to the builder of the runtime"
            )),
            None => Ok(()),
        }
    }

    /// Does the run twice more, and finds the first moment at which both differ. If they do not, returns
    /// what scripts have done in both.
    fn find(
        &self,
        shared: &Rc<Shared>,
        before: &Before,
        run: &mut dyn FnMut(),
    ) -> Result<Result<String, Vec<Event>>, String> {
        let mut trail = |reads_back: bool| {
            self.go_back(shared, before)?;
            if reads_back {
                self.read_back(shared)?;
            }
            Ok::<_, String>(shared.trail.of(&self.lent, run))
        };
        let (first, second) = (trail(true)?, trail(false)?);
        let same = first.iter().zip(&second).take_while(|(a, b)| a == b);
        let at = same.count();
        let sites = shared.sites.sites();
        Ok(match (first.get(at), second.get(at)) {
            (None, None) => Err(second),
            (Some(one), Some(other)) => Ok(said(&differ(one, other, &sites))),
            (Some(one), None) => Ok(said(&format!("only the first time, {}", one.text(&sites)))),
            (None, Some(other)) => {
                let text = other.text(&sites);
                Ok(said(&format!("only the second time, {text}")))
            }
        })
    }
}

/// How many effects are named if any of them may be the one.
const SUSPECTS: usize = 3;

/// Both runs were alike in scripts that had been read back from their journals. The first run of all, in
/// which the scripts were as they had run, was another one: an effect of one of them depends on a local
/// variable that is another one after a replay. `None` if no script that has done something before has done
/// an effect.
fn suspects(events: &[Event], before: &SaveState, sites: &Sites) -> Option<String> {
    let was_there = |event: &&Event| {
        let scripts = &before.scripts;
        let known = scripts.binary_search_by_key(&event.script, |image| image.id);
        known.is_ok_and(|at| scripts[at].journal.entries() > 0)
    };
    let is_effect = |event: &&Event| matches!(event.kind, Kind::Effect | Kind::Panicked);
    let effects = events.iter().filter(|event| event.value.is_some());
    let effects: Vec<&Event> = effects.filter(is_effect).filter(was_there).collect();
    let texts: Vec<String> = effects
        .iter()
        .take(SUSPECTS)
        .map(|event| event.text(sites))
        .collect();
    let (one, of) = match (texts.len(), effects.len()) {
        (0, _) => return None,
        (1, _) => ("", ""),
        (known, all) if known == all => ("one of ", " and no other"),
        _ => ("one of these, or a later one: ", ""),
    };
    let texts = texts.join("; ");
    Some(format!(
        "a script that is read back from its journal does something else than the one that has run: {one}\
         {texts}{of}. It depends on a local variable that a replay does not restore: a field of a result of \
         `with` that serde skips; or a `Cell`, an `Rc` or another variable with interior mutability that \
         the closure of an earlier effect has changed. Return all of it from the closure, or keep it in the \
         world"
    ))
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
         the system, the order of a `HashMap`, or a field that serde skips"
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
