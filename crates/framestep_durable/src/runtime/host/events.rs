//! What a host does with permits and questions.

use framestep::durable::{name_of, refuse};
use framestep::sync::Semaphore;

use crate::bytes::{Bytes, Marked};
use crate::ids::ScriptId;
use crate::runtime::RuntimeHandle;
use crate::wait::{Request, RequestId};

impl RuntimeHandle {
    /// The scripts that have permits, one for each [`Permit`](crate::Permit), in the order of their
    /// numbers.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// const TOKENS: Semaphore = semaphore("attack tokens", 2);
    ///
    /// let runtime = Runtime::new(Registry::new());
    /// runtime.named(&TOKENS).set_count(3); // the game is hard
    /// assert_eq!(runtime.named(&TOKENS).available(), 3);
    /// assert!(runtime.holders(&TOKENS).is_empty());
    /// ```
    pub fn holders(&self, semaphore: &Semaphore) -> Vec<ScriptId> {
        let name = name_of(semaphore);
        name.map_or(Vec::new(), |name| self.shared.events.holders(name.full))
    }

    /// The open questions of scripts that this call has not returned before, in the order in
    /// which they were asked. After a restore or a rollback, it returns all open questions again.
    ///
    /// # Panics
    ///
    /// If another type of request has the same name. Then the next call returns all of them
    /// again.
    #[track_caller]
    pub fn requests<R: Request>(&self) -> Vec<(RequestId<R>, R)> {
        refuse("RuntimeHandle::requests");
        let found = self.shared.new_questions(R::NAME);
        let read = |(key, bytes): (_, Bytes)| {
            let request = bytes.read().unwrap_or_else(|| {
                panic!(
                    "another request is named `{}`, like `{}`",
                    R::NAME,
                    std::any::type_name::<R>()
                )
            });
            (RequestId::new(key), request)
        };
        let found: Vec<(RequestId<R>, R)> = found.into_iter().map(read).collect();
        // Only now: if one cannot be read, the host receives none of them.
        let keys = found.iter().map(|(id, _)| id.key);
        self.shared.receive(R::NAME, keys);
        found
    }

    /// Answers a question. Returns `false` if no script waits for the answer any more: the question
    /// was withdrawn, or has an answer, or is one that a rollback has taken back.
    ///
    /// # Panics
    ///
    /// If the answer does not serialise.
    #[track_caller]
    pub fn answer<R: Request>(&self, id: RequestId<R>, answer: &R::Answer) -> bool {
        refuse("RuntimeHandle::answer");
        self.shared.answer(id.key, R::NAME, &Marked::of(answer))
    }

    /// Whether a script waits for the answer to a question, and it has none.
    pub fn is_open<R: Request>(&self, id: RequestId<R>) -> bool {
        self.shared.is_open(id.key, R::NAME)
    }

    /// The questions that [`requests`](Self::requests) has returned, and that were withdrawn before
    /// they had an answer: the script has dropped its [`ask`](crate::ask), was stopped, or was rolled
    /// back. Close their boxes. Each is returned once. For a host that does not call this, the latest
    /// 1,024 are kept.
    ///
    /// # Examples
    ///
    /// ```
    /// use framestep_durable::prelude::*;
    ///
    /// #[derive(Serialize, Deserialize)]
    /// struct Choice;
    ///
    /// impl Request for Choice {
    ///     const NAME: &'static str = "choice";
    ///     type Answer = u32;
    /// }
    ///
    /// #[durable]
    /// async fn quick() -> bool {
    ///     timeout(0.25, ask(|| Choice)).await.is_ok()
    /// }
    ///
    /// let mut runtime = Runtime::new(Registry::new().script(quick));
    /// runtime.start(quick());
    /// let (box_of, _) = runtime.requests::<Choice>()[0];
    /// assert!(runtime.is_open(box_of));
    /// runtime.run_frame(0.25); // too late
    /// assert_eq!(runtime.withdrawn::<Choice>(), [box_of]);
    /// ```
    #[track_caller]
    pub fn withdrawn<R: Request>(&self) -> Vec<RequestId<R>> {
        refuse("RuntimeHandle::withdrawn");
        let withdrawn = self.shared.take_withdrawn(R::NAME);
        withdrawn.into_iter().map(RequestId::new).collect()
    }
}
