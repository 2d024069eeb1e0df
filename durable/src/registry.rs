//! The scripts that a game knows by name.

use std::collections::BTreeMap;
use std::fmt;

use crate::error::RestoreError;
use crate::image::SaveState;
use crate::runtime::Runtime;
use crate::script::{BeginAgain, Code, DurableScript, begin_again};

/// The durable scripts of a game, by name: a restore looks them up here.
///
/// # Examples
///
/// ```
/// # use framestep_durable::prelude::*;
/// # #[derive(Serialize, Deserialize)]
/// # struct Door;
/// # impl DurableScript for Door {
/// #     const NAME: &'static str = "door";
/// #     type Output = ();
/// #     async fn run(self) -> Chapter<Self> { Chapter::Done(()) }
/// # }
/// let registry = Registry::new().with::<Door>();
/// let runtime = Runtime::new(registry);
/// ```
#[derive(Clone, Default)]
pub struct Registry {
    scripts: BTreeMap<&'static str, Known>,
    build: String,
}

#[derive(Clone, Copy)]
struct Known {
    type_name: &'static str,
    code: Code,
    begin_again: BeginAgain,
}

impl Registry {
    /// A registry without scripts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a script.
    ///
    /// # Panics
    ///
    /// If another type has the same name.
    #[must_use]
    #[track_caller]
    pub fn with<S: DurableScript>(mut self) -> Self {
        let known = Known {
            type_name: std::any::type_name::<S>(),
            code: Code::of::<S>(),
            begin_again: begin_again::<S>,
        };
        let earlier = self.scripts.insert(S::NAME, known);
        if let Some(earlier) = earlier.filter(|earlier| earlier.type_name != known.type_name) {
            panic!(
                "the scripts `{}` and `{}` have the same name, `{}`: a file could not tell them \
                 apart",
                earlier.type_name,
                known.type_name,
                S::NAME
            );
        }
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

    /// The type of a script.
    pub(crate) fn type_name(&self, name: &str) -> &'static str {
        self.scripts.get(name).map_or("", |known| known.type_name)
    }

    pub(crate) fn find(&self, name: &str) -> Option<(Code, BeginAgain)> {
        let known = self.scripts.get(name)?;
        Some((known.code, known.begin_again))
    }

    /// Which scripts of a save state do not fit this code, and why: each is replayed, without a
    /// runtime and without effects. For the tests of a game, with saves of its earlier releases.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// #[durable]
    /// async fn door() {
    ///     wait_seconds(1).await;
    /// }
    ///
    /// let registry = || Registry::new().with::<Door>();
    /// # let runtime = Runtime::new(registry());
    /// # runtime.start(door()).detach();
    /// # let released = [runtime.save_state().unwrap().to_bytes()];
    /// for file in released {
    ///     let save = SaveState::from_bytes(&file).unwrap();
    ///     for error in registry().check(&save) {
    ///         panic!("{error}");
    ///     }
    /// }
    /// ```
    #[must_use]
    pub fn check(&self, save: &SaveState) -> Vec<RestoreError> {
        Runtime::new(self.clone()).check(save)
    }

    /// Panics if a script was not added.
    #[track_caller]
    pub(crate) fn expect<S: DurableScript>(&self) {
        assert!(
            self.scripts.contains_key(S::NAME),
            "the durable script `{}` is not in the runtime's registry, so it could not be \
             restored: add it with `Registry::with`",
            S::NAME
        );
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.scripts.keys()).finish()
    }
}
