//! Which coroutine has returned an unobserved output.

use std::borrow::Cow;

use super::CoroutineId;

/// The coroutine that has returned an [unobserved](crate::Executor::on_unobserved) output. It has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputSource {
    pub(crate) id: CoroutineId,
    pub(crate) name: Cow<'static, str>,
}

impl OutputSource {
    /// Its id, as reports and traces have it.
    pub fn id(&self) -> CoroutineId {
        self.id
    }

    /// Its name: the one that was [given](crate::task::ScriptBuilder), or the path of its `async fn`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same, to keep it.
    pub fn into_name(self) -> Cow<'static, str> {
        self.name
    }
}
