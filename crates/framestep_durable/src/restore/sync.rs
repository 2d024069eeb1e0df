//! The sync test: each run is done twice from the same state, and must lead to the same state.

use std::any::Any;
use std::rc::Rc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes::text_of;
use crate::events::Questions;
use crate::journal::{Kind, Sites};
use crate::replay::{SaveError, SiteNumbers};
use crate::runtime::RuntimeBuilder;
use crate::save::SaveState;
use crate::script::shared::trail::{Event, checksums};
use crate::script::{Lent, ScriptImage, Shared};

/// A test of one run, with the states that the host lends.
struct Test<'a> {
    lent: &'a [Lent],
}

/// Everything that a run may change.
struct Before {
    save: SaveState,
    worlds: Vec<Option<Box<dyn Any>>>,
    /// The questions that the host has received.
    questions: Questions,
}

/// Does a run, goes back, and does it again. Fails if the states after both differ, or the runtime cannot
/// go back.
fn run_twice(shared: &Rc<Shared>, lent: &[Lent], run: &mut dyn FnMut()) -> Result<(), String> {
    Test { lent }.try_run(shared, run)
}

impl Test<'_> {
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
        let checksums = || checksums(self.lent);
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
            Ok::<_, String>(shared.trail.of(self.lent, run))
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
        let replayed = shared.replay(image, Some(after.stored()), &SiteNumbers::same(), true);
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

impl RuntimeBuilder {
    /// Tests that scripts depend only on the world and on what is recorded: the *sync test* of
    /// netcode, for each run. `W` is the state that the host lends. For several, call this for
    /// each; without one, for `()`.
    ///
    /// Each run of the runtime (a frame of [`run_frame_with`](crate::Runtime::run_frame_with), or a
    /// phase of [`run_phase`](crate::Runtime::run_phase)) is done, taken back, and done again from the
    /// same state. The save states and the lent states after both must be equal. Chapters that
    /// have changed are replayed. The runtime continues from the second time.
    ///
    /// A test of a run needs nothing of the game, because the state before it has all inputs: what
    /// the host has changed in the world, emitted, set and answered. What the host itself does
    /// between two runs is not tested; the sync test session of a library such as GGRS does that.
    ///
    /// # Costs
    ///
    /// For debug builds and tests. A frame takes two runs, a rollback, three save states, two
    /// checksums of the runtime and of each lent state, and a replay of each chapter that has
    /// changed. Hooks are called twice, and so is everything outside of the world that an effect
    /// calls: a sound plays twice.
    ///
    /// # Panics
    ///
    /// The run panics, at its caller's line, if both times differ. The message says what differed
    /// first, with script, entry and line. To find it, the run is done twice more, which compares
    /// the lent states before and after each effect. The run also panics if the runtime cannot be
    /// saved, or lends a state that the test does not know.
    ///
    /// # Examples
    ///
    /// ```should_panic
    /// # use std::cell::Cell;
    /// use framestep_durable::prelude::*;
    ///
    /// #[derive(Clone, Serialize, Deserialize)]
    /// struct World {
    ///     gold: u32,
    /// }
    ///
    /// thread_local! {
    ///     static RANDOM: Cell<u32> = const { Cell::new(7) }; // should be in the world
    /// }
    ///
    /// #[durable]
    /// async fn treasure() {
    ///     wait_frames(3).await;
    ///     with(|world: &mut World| world.gold += RANDOM.replace(RANDOM.get() * 5));
    /// }
    ///
    /// let registry = Registry::new().script(treasure);
    /// let mut runtime = Runtime::builder(registry).sync_test::<World>().build();
    /// runtime.spawn(treasure());
    /// let mut world = World { gold: 0 };
    /// for _ in 0..10 {
    ///     // In frame 4: the sync test of `run_frame_with` failed in frame 4: done again from the
    ///     // same state, it ends differently: script `treasure` (#1), entry 2: a `with` at
    ///     // treasure.rs:15 changed what the host lends in two ways. ..
    ///     runtime.run_frame_with(&mut world, 1.0 / 60.0);
    /// }
    /// ```
    pub fn sync_test<W: Clone + Serialize + 'static>(self) -> Self {
        self.test_with(Lent::of::<W>(), run_twice)
    }

    /// The [sync test](Self::sync_test) for a state that the game saves: between the two runs, it is
    /// written as bytes and read back, as a file would. So the test also finds what a clone hides: the
    /// order of a `HashMap`, a field with `#[serde(skip)]`, a `Deserialize` that does not read what its
    /// `Serialize` writes.
    ///
    /// # Costs
    ///
    /// Beside those of [`sync_test`](Self::sync_test): the state is written twice in each run, and read.
    ///
    /// # Panics
    ///
    /// The run panics as in the sync test. And if the state is another one after it was read back: the
    /// message names the field.
    ///
    /// # Examples
    ///
    /// ```should_panic
    /// use std::collections::HashMap;
    ///
    /// use framestep_durable::prelude::*;
    ///
    /// #[derive(Clone, Serialize, Deserialize)]
    /// struct World {
    ///     enemies: HashMap<u32, u32>, // should be a BTreeMap
    /// }
    ///
    /// let mut world = World { enemies: (0..50).map(|n| (n, n)).collect() };
    /// let builder = Runtime::builder(Registry::new());
    /// let mut runtime = builder.sync_test_through_bytes::<World>().build();
    /// // The sync test of `run_frame_with` failed in frame 1: a world of type `World` is another one after
    /// // it was written and read back: `enemies` has its items in another order. ..
    /// runtime.run_frame_with(&mut world, 1.0 / 60.0);
    /// ```
    pub fn sync_test_through_bytes<W>(self) -> Self
    where
        W: Clone + Serialize + DeserializeOwned + 'static,
    {
        self.test_with(Lent::through_bytes::<W>(), run_twice)
    }
}
