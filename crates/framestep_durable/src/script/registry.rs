//! The scripts that a game knows by name.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use crate::bytes::{Bytes, Content, Type};
use crate::ids::ScriptId;
use crate::save::SaveState;
use crate::script::{
    Begins, Begun, Code, Continues, DurableScript, Migrates, OldState, ScriptFn, begins, continues,
    migrates,
};

/// The durable scripts of a game, by name: a restore looks them up here.
///
/// # Examples
///
/// ```
/// # use framestep_durable::prelude::*;
/// # #[durable]
/// # async fn door() {}
/// let registry = Registry::new().script(door);
/// let runtime = Runtime::new(registry);
/// ```
#[derive(Clone, Default)]
pub struct Registry {
    scripts: BTreeMap<&'static str, KnownScript>,
    /// `None` of a value that the game does not have any more.
    values: BTreeMap<Cow<'static, str>, Option<Type>>,
    build: String,
}

/// What the registry knows of a script.
#[derive(Clone, Copy)]
pub(crate) struct KnownScript {
    state: Type,
    pub(crate) code: Code,
    continues: Continues,
    begins: Begins,
    migrates: Migrates,
}

impl KnownScript {
    fn of<S: DurableScript>() -> Self {
        KnownScript {
            state: Type::of::<S>(),
            code: Code::of::<S>(),
            continues: continues::<S>,
            begins: begins::<S>,
            migrates: migrates::<S>,
        }
    }

    /// The type of its states.
    pub(crate) fn state_name(&self) -> String {
        // The attribute has hidden it behind the name of the function.
        let name = self.state.name.replace("State_of_", "");
        name.replace("Chapters_of_", "")
    }

    /// Begins a chapter with the state of a save. `None` if it is not a state of this script.
    pub(crate) fn begin_again(&self, version: u32, state: &Content) -> Option<Begun> {
        let begun = self.begin_replayed(version, state)?;
        let carried = if version == self.code.version {
            let as_new = (self.begins)(&begun.state);
            as_new.map(|begun| begun.carried).unwrap_or_default()
        } else {
            begun.carried
        };
        Some(Begun { carried, ..begun })
    }

    /// The same for a chapter that is replayed: of a state of this version, it is not known what that
    /// carries.
    pub(crate) fn begin_replayed(&self, version: u32, state: &Content) -> Option<Begun> {
        if version != self.code.version {
            return (self.migrates)(OldState::new(version, state));
        }
        let state = self.state.compact_unread(state)?;
        let future = (self.continues)(&state)?;
        let carried = Vec::new();
        Some(Begun {
            state,
            future,
            carried,
        })
    }
}

impl Registry {
    /// A registry without scripts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a script whose state is a type with a name: one that implements [`DurableScript`] by hand, or a type
    /// parameter. Scripts with [`#[durable]`](crate::durable) are added with [`script`](Registry::script).
    ///
    /// # Panics
    ///
    /// If another type has the same name.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// #[derive(Serialize, Deserialize)]
    /// struct Door;
    ///
    /// impl DurableScript for Door {
    ///     const NAME: &'static str = "door";
    ///     type Output = ();
    ///
    ///     async fn run(self) -> Chapter<Self> {
    ///         wait_seconds(1).await;
    ///         Chapter::Done(())
    ///     }
    /// }
    ///
    /// let registry = Registry::new().with::<Door>();
    /// ```
    #[must_use]
    #[track_caller]
    pub fn with<S: DurableScript>(mut self) -> Self {
        self.add(KnownScript::of::<S>());
        self
    }

    /// Adds the script of a function with [`#[durable]`](crate::durable): the function that makes its state.
    /// For a module of chapters, any of its chapters.
    ///
    /// # Panics
    ///
    /// If another type has the same name.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep_durable::prelude::*;
    ///
    /// #[durable]
    /// async fn door(number: u32, is_open: bool) {
    ///     wait_seconds(1).await;
    /// }
    ///
    /// let registry = Registry::new().script(door);
    /// let mut runtime = Runtime::new(registry);
    /// runtime.start(door(3, false));
    /// ```
    ///
    /// Of a generic function, each type that is used:
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// # trait Enemy: Serialize + DeserializeOwned + 'static { const PATROL: &'static str; }
    /// # #[derive(Serialize, Deserialize)]
    /// # struct Goblin;
    /// # impl Enemy for Goblin { const PATROL: &'static str = "patrol of a goblin"; }
    /// #[durable(name = E::PATROL)]
    /// async fn patrol<E: Enemy>(enemy: E) {
    ///     wait_seconds(1).await;
    /// }
    ///
    /// let registry = Registry::new().script(patrol::<Goblin>);
    /// ```
    ///
    /// A function without the attribute does not compile:
    ///
    /// ```compile_fail,E0277
    /// # use framestep_durable::prelude::*;
    /// async fn door(number: u32) {}
    ///
    /// let registry = Registry::new().script(door);
    /// ```
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a function is written by its name alone; only its type is used"
    )]
    #[must_use]
    #[track_caller]
    pub fn script<P, F: ScriptFn<P>>(self, function: F) -> Self {
        let _ = function;
        self.with::<F::Script>()
    }

    #[track_caller]
    fn add(&mut self, known: KnownScript) {
        // That prints the items of lists, which is code of the game: now nothing is borrowed.
        known.code.places.all();
        let name = known.code.name;
        let earlier = self.scripts.insert(name, known);
        if let Some(earlier) = earlier.filter(|earlier| earlier.state.name != known.state.name) {
            panic!(
                "the scripts `{}` and `{}` have the same name in files, `{name}`: a file could not tell them \
                 apart. Give one of them another name: `#[durable(name = \"..\")]`",
                earlier.state_name(),
                known.state_name()
            );
        }
    }

    #[track_caller]
    pub(crate) fn add_value(&mut self, name: &'static str, known: Type) {
        let earlier = self.values.insert(name.into(), Some(known)).flatten();
        if let Some(earlier) = earlier.filter(|earlier| earlier.name != known.name) {
            panic!(
                "the value `{name}` is a `{}` and a `{}`: a file could not tell them apart",
                earlier.name, known.name
            );
        }
    }

    /// Forgets the value of this name when a file is loaded: the game does not have it any more. A
    /// [described](crate::SaveState::described) value that the registry does not know is an error.
    #[must_use]
    pub fn without_watch(mut self, name: impl Into<String>) -> Self {
        self.values.insert(name.into().into(), None);
        self
    }

    /// Names the build, with a commit hash for example. In a file of a build with the same
    /// name, line numbers must match: a script that continues at another line is an error.
    /// Without a name, and in files of other builds, lines may differ; errors still show them.
    #[must_use]
    pub fn for_build(mut self, build: impl Into<String>) -> Self {
        self.build = build.into();
        self
    }

    pub(crate) fn build(&self) -> &str {
        &self.build
    }

    /// The type of the states of a script, and why this is not one.
    pub(crate) fn why_no_state(&self, name: &str, state: &Content) -> (String, String) {
        self.find(name).map_or_else(Default::default, |known| {
            let why = known.state.compact(state).err();
            (known.state_name(), why.unwrap_or_default())
        })
    }

    /// Describes a state of a script.
    pub(crate) fn describe_state(
        &self,
        name: &str,
        version: u32,
        state: &Content,
    ) -> Result<Content, String> {
        match self.find(name) {
            None => Err("the registry does not know it: add it with `Registry::script`".to_owned()),
            Some(known) if known.code.version != version => Err(format!(
                "the save has version {version} of it, and the registry {}",
                known.code.version
            )),
            Some(known) => known.state.describe(state),
        }
    }

    /// The parameters that scripts of a [described](SaveState::described) save have, and that they do not have
    /// any more in this code, for `framestep_live`: what a save may lose is more than a change in a running game.
    #[doc(hidden)]
    #[must_use]
    pub fn parameters_lost_of(&self, save: &SaveState) -> Vec<(ScriptId, String, Vec<String>)> {
        let lost = save.scripts.iter().filter_map(|script| {
            let known = self.find(&script.name)?;
            let is_read = known.code.version == script.version;
            let lost = is_read.then(|| known.state.fields_lost_of(&script.state))?;
            (!lost.is_empty()).then(|| (script.id, script.name.to_string(), lost))
        });
        lost.collect()
    }

    /// What is known of a value. With a key, `stage[3]` is of the type of `stage`.
    pub(crate) fn value(&self, name: &str) -> Option<&Option<Type>> {
        let of_key = || {
            let mut bases = name.match_indices('[').map(|(at, _)| &name[..at]);
            bases.find_map(|base| self.values.get(base))
        };
        self.values.get(name).or_else(of_key)
    }

    /// Describes a value. One that the registry does not know stays as it is.
    pub(crate) fn describe_value(&self, name: &str, value: &Content) -> Result<Content, String> {
        match self.value(name) {
            Some(Some(known)) => known.describe(value),
            _ => Ok(value.clone()),
        }
    }

    /// A value of a save as the runtime has it.
    pub(crate) fn value_of_save(&self, name: &str, value: &Content) -> Option<Bytes> {
        match (self.value(name), value) {
            (Some(Some(known)), value) => known.compact_unread(value),
            (None, Content::Compact(value)) => Some(value.clone()),
            (Some(None), _) | (None, Content::Described(_)) => None,
        }
    }

    /// The code of all scripts, by name.
    pub(crate) fn codes(&self) -> impl Iterator<Item = Code> {
        self.scripts.values().map(|known| known.code)
    }

    pub(crate) fn find(&self, name: &str) -> Option<KnownScript> {
        self.scripts.get(name).copied()
    }

    /// Panics if a script was not added.
    #[track_caller]
    pub(crate) fn expect(&self, name: &str) {
        assert!(
            self.find(name).is_some(),
            "the durable script `{name}` is not in the runtime's registry, so it could not be \
             restored: add it with `Registry::script`"
        );
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.scripts.keys()).finish()
    }
}
