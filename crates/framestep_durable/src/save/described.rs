//! Save states that describe themselves, for later builds.

use crate::replay::SaveError;
use crate::save::SaveState;
use crate::script::{Registry, ScriptImage};

impl SaveState {
    /// The same with states that describe themselves: the states of all scripts, and the values
    /// that the registry [knows](Registry::with_watch), with the names of their fields. Such a save
    /// is larger, and a later build can read it although the types have changed since, without
    /// another [`VERSION`](crate::DurableScript::VERSION):
    ///
    /// - a field was added, with `#[serde(default)]`;
    /// - a field was removed, or has become an `Option`;
    /// - a field was renamed, with `#[serde(alias = "..")]`;
    /// - the fields are in another order, or a number has another size that it fits into.
    ///
    /// Whether the script continues then, is decided by its journal, as for any change of its code.
    /// What is recorded in journals is not described, nor are the results of scripts that have
    /// ended: they last as long as the chapter.
    ///
    /// [`to_bytes_with`](SaveState::to_bytes_with) describes the world, too. In formats that people
    /// read, such as JSON, states appear with their fields.
    ///
    /// Its [checksum](SaveState::checksum) is another one. A runtime that loads it continues like
    /// one that loads the save state itself.
    ///
    /// # Errors
    ///
    /// [`SaveError::NotDescribed`] if a script is not in the registry, or a state or a value does not
    /// read back what it writes.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep_durable::prelude::*;
    ///
    /// mod first_release {
    ///     # use framestep_durable::prelude::*;
    ///     #[durable]
    ///     pub async fn shop(coins: u32) {
    ///         wait_seconds(60).await;
    ///     }
    /// }
    ///
    /// mod second_release {
    ///     # use framestep_durable::prelude::*;
    ///     #[durable]
    ///     pub async fn shop(#[serde(default)] guests: Vec<String>, coins: u32) {
    ///         wait_seconds(60).await;
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let registry = Registry::new().script(first_release::shop);
    /// let runtime = Runtime::new(registry.clone());
    /// runtime.start(first_release::shop(3));
    /// let file = runtime.save()?.described(&registry)?.to_bytes();
    ///
    /// let mut runtime = Runtime::new(Registry::new().script(second_release::shop));
    /// runtime.restore(&SaveState::from_bytes(&file)?, Policy::Fail)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn described(&self, registry: &Registry) -> Result<SaveState, SaveError> {
        let mut described = self.clone();
        for script in &mut described.scripts {
            let ScriptImage { name, version, .. } = &**script;
            let state = registry.describe_state(name, *version, &script.state);
            script.state = state.map_err(|why| SaveError::NotDescribed {
                what: format!("the state of the script `{name}`"),
                why,
            })?;
        }
        for (name, value, ..) in &mut described.values {
            if let Some(value) = value {
                let content = registry.describe_value(name.as_ref(), value);
                *value = content.map_err(|why| SaveError::NotDescribed {
                    what: format!("the value `{name}`"),
                    why,
                })?;
            }
        }
        described.is_described = true;
        // Another registry may not be able to read it.
        described.is_taken = false;
        Ok(described)
    }
}
