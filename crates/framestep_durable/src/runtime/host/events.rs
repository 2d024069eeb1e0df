//! What a host does with signals, values, permits, promises and questions.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bytes::{Bytes, EventName, Marked};
use crate::events::Settled;
use crate::ids::ScriptId;
use crate::runtime::RuntimeHandle;
use crate::wait::{
    Request, RequestId, Resolver, Semaphore, Signal, Watch, expect_countable, read_value,
};

impl RuntimeHandle {
    /// Emits an event for the host. The signal may have a key: `KNOCK.keyed(door)`.
    ///
    /// # Panics
    ///
    /// If the value does not serialise.
    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "as in framestep")]
    pub fn emit<T, N>(&self, signal: &Signal<T, N>, value: T)
    where
        T: Serialize + DeserializeOwned + 'static,
        N: EventName,
    {
        let value = Marked::of(&value);
        self.shared.events.emit(signal.full_name(), &value);
    }

    /// Emits an event for the host to one script: the one that has waited longest. Returns the value if
    /// none waits. See [`Signal::emit_one`].
    ///
    /// # Panics
    ///
    /// If the value does not serialise.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// const JOBS: Signal<u32> = signal("jobs");
    ///
    /// let runtime = Runtime::new(Registry::new());
    /// assert_eq!(runtime.emit_one(&JOBS, 3), Some(3)); // no script waits
    /// ```
    #[track_caller]
    pub fn emit_one<T, N>(&self, signal: &Signal<T, N>, value: T) -> Option<T>
    where
        T: Serialize + DeserializeOwned + 'static,
        N: EventName,
    {
        let event = Marked::of(&value);
        let is_given = self.shared.events.emit_one(signal.full_name(), &event);
        (!is_given).then_some(value)
    }

    /// Sets a value for the host. It may have a key: `STAGE.keyed(quest)`.
    ///
    /// # Panics
    ///
    /// If it does not serialise.
    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "as in framestep")]
    pub fn set<T, N>(&self, value: &Watch<T, N>, to: T)
    where
        T: Serialize + DeserializeOwned + 'static,
        N: EventName,
    {
        let to = Bytes::of(&to);
        self.shared.events.set(value.full_name(), Some(to));
    }

    /// The current value.
    ///
    /// # Panics
    ///
    /// If another value of the same name has another type.
    pub fn get<T, N>(&self, value: &Watch<T, N>) -> T
    where
        T: Serialize + DeserializeOwned + 'static,
        N: EventName,
    {
        let (_, bytes) = self.shared.events.value(value.full_name());
        bytes.map_or_else(
            || value.start(),
            |bytes| read_value(value.full_name(), &bytes),
        )
    }

    /// Removes a value: it is its start value again, and nothing is kept for it. If it was
    /// set, this is a change. Returns whether it was set.
    pub fn remove<T, N>(&self, value: &Watch<T, N>) -> bool
    where
        T: Serialize + DeserializeOwned + 'static,
        N: EventName,
    {
        self.shared.events.set(value.full_name(), None)
    }

    /// How many permits are free.
    pub fn available<N: EventName>(&self, semaphore: &Semaphore<N>) -> usize {
        let free = self
            .shared
            .events
            .free_permits(semaphore.full_name(), semaphore.declared());
        usize::try_from(free).unwrap_or(usize::MAX)
    }

    /// The scripts that have permits, one for each [`Permit`](crate::Permit), in the order of their
    /// numbers.
    pub fn holders<N: EventName>(&self, semaphore: &Semaphore<N>) -> Vec<ScriptId> {
        self.shared.events.holders(semaphore.full_name())
    }

    /// Sets how many permits there are, instead of the number in the code. This is kept, and saved,
    /// until it is set to that number again. Scripts keep the permits that they have, even if there
    /// are fewer now. If there are more, scripts that wait get them.
    ///
    /// # Examples
    ///
    /// ```
    /// # use framestep_durable::prelude::*;
    /// const TOKENS: Semaphore = semaphore("attack tokens", 2);
    ///
    /// let runtime = Runtime::new(Registry::new());
    /// runtime.set_permits(&TOKENS, 3); // the game is hard
    /// assert_eq!(runtime.available(&TOKENS), 3);
    /// assert!(runtime.holders(&TOKENS).is_empty());
    /// ```
    pub fn set_permits<N: EventName>(&self, semaphore: &Semaphore<N>, count: usize) {
        let declared = semaphore.declared();
        self.shared
            .events
            .set_permits(semaphore.full_name(), declared, count as u64);
    }

    /// Adds `count` permits for the host. See [`Semaphore::add`].
    ///
    /// # Panics
    ///
    /// If there would be more permits than can be counted.
    #[track_caller]
    pub fn add_permits<N: EventName>(&self, semaphore: &Semaphore<N>, count: usize) {
        let (name, declared) = (semaphore.full_name(), semaphore.declared());
        expect_countable(self.shared.events.add_permits(name, declared, count as u64));
    }

    /// Resolves a [promise](crate::promise) for the host. Returns `false` if it was dropped, or was
    /// resolved or cancelled before.
    ///
    /// # Panics
    ///
    /// If the value does not serialise.
    #[track_caller]
    pub fn resolve<T>(&self, resolver: &Resolver<T>, value: &T) -> bool
    where
        T: Serialize + DeserializeOwned + 'static,
    {
        let (promise, stamp) = resolver.key();
        let value = Settled::Resolved(Marked::of(value));
        self.shared.events.settle(promise, stamp, value)
    }

    /// Cancels a [promise](crate::promise) for the host: it returns an error. Returns `false` if it
    /// was dropped, or was resolved or cancelled before.
    pub fn cancel<T>(&self, resolver: &Resolver<T>) -> bool
    where
        T: Serialize + DeserializeOwned + 'static,
    {
        let (promise, stamp) = resolver.key();
        self.shared
            .events
            .settle(promise, stamp, Settled::Cancelled)
    }

    /// The open questions of scripts that this call has not returned before, in the order in
    /// which they were asked. After a restore or a rollback, it returns all open questions again.
    ///
    /// # Panics
    ///
    /// If another type of request has the same name. Then the next call returns all of them
    /// again.
    pub fn requests<R: Request>(&self) -> Vec<(RequestId<R>, R)> {
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
    /// let mut runtime = Runtime::new(Registry::new().with::<Quick>());
    /// runtime.start(quick()).detach();
    /// let (box_of, _) = runtime.requests::<Choice>()[0];
    /// assert!(runtime.is_open(box_of));
    /// runtime.run_frame(0.25); // too late
    /// assert_eq!(runtime.withdrawn::<Choice>(), [box_of]);
    /// ```
    pub fn withdrawn<R: Request>(&self) -> Vec<RequestId<R>> {
        let withdrawn = self.shared.take_withdrawn(R::NAME);
        withdrawn.into_iter().map(RequestId::new).collect()
    }
}
