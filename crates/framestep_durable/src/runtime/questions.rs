//! What hosts do with the questions of scripts.

use std::collections::BTreeSet;
use std::iter;

use crate::bytes::{Bytes, Marked};
use crate::events::questions::KEPT;
use crate::events::{Loss, Question, Waiters, is_reported};
use crate::ids::RequestKey;
use crate::script::{Shared, Slot};

impl Shared {
    /// Calls `f` with each question that has no answer.
    fn each_open(&self, mut f: impl FnMut(&Question)) {
        for cell in self.scripts.alive.borrow().values() {
            let chapter = cell.chapter();
            let requests = chapter.waits.requests();
            requests.filter(|it| it.answer.is_none()).for_each(&mut f);
        }
    }

    /// The open questions of this name that the host has not received, in the order in which they
    /// were asked.
    pub(crate) fn new_questions(&self, name: &str) -> Vec<(RequestKey, Bytes)> {
        let mut found = Vec::new();
        let received = self.questions.received.borrow();
        self.each_open(|request| {
            if request.name == name && !received.contains_key(&request.key()) {
                found.push((request.key(), request.content.value().clone()));
            }
        });
        found.sort_unstable_by_key(|&(key, _)| key);
        found
    }

    /// Notes that the host has received questions of this name.
    pub(crate) fn receive(&self, name: &str, keys: impl Iterator<Item = RequestKey>) {
        self.find_withdrawn();
        let mut received = self.questions.received.borrow_mut();
        received.extend(keys.map(|key| (key, name.to_owned())));
    }

    /// Moves the received questions that are not open any more to the withdrawn ones.
    fn find_withdrawn(&self) {
        if self.questions.received.borrow().is_empty() {
            return;
        }
        let mut open = BTreeSet::new();
        self.each_open(|request| {
            open.insert(request.key());
        });
        let mut received = self.questions.received.borrow_mut();
        let mut withdrawn = self.questions.withdrawn.borrow_mut();
        received.retain(|key, name| {
            let is_open = open.contains(key);
            if !is_open {
                withdrawn.push_back((*key, std::mem::take(name)));
            }
            is_open
        });
        let surplus = withdrawn.len().saturating_sub(KEPT);
        let mut loss = None;
        for (_, request) in withdrawn.drain(..surplus) {
            let forgotten = self.questions.forgotten.get() + 1;
            self.questions.forgotten.set(forgotten);
            if is_reported(forgotten) {
                loss = Some(Loss::WithdrawnForgotten { request, forgotten });
            }
        }
        drop((received, withdrawn));
        if let Some(loss) = loss {
            self.losses.report(&loss);
        }
    }

    /// The received questions of this name that were withdrawn. Each is returned once.
    pub(crate) fn take_withdrawn(&self, name: &str) -> Vec<RequestKey> {
        self.find_withdrawn();
        let mut withdrawn = self.questions.withdrawn.borrow_mut();
        let mut found = Vec::new();
        withdrawn.retain(|(key, of)| {
            let is_it = of == name;
            if is_it {
                found.push(*key);
            }
            !is_it
        });
        found
    }

    /// Whether a question of this name has no answer, and its script waits for one.
    pub(crate) fn is_open(&self, key: RequestKey, name: &str) -> bool {
        let mut is_open = false;
        self.each_open(|request| is_open |= request.key() == key && request.name == name);
        is_open
    }

    /// Answers a question. Returns `false` if it is not open.
    pub(crate) fn answer(&self, key: RequestKey, name: &str, answer: &Marked) -> bool {
        let mut script = None;
        for cell in self.scripts.alive.borrow().values() {
            for pending in cell.change().waits.iter_mut() {
                if let Slot::Request(request) = &mut pending.slot {
                    let is_it = request.key() == key && request.name == name;
                    if is_it && request.answer.is_none() {
                        request.answer = Some(answer.clone());
                        script = Some(cell.id);
                    }
                }
            }
        }
        if let Some(script) = script {
            self.questions.received.borrow_mut().remove(&key);
            self.scripts.wake(&mut iter::once(script));
        }
        script.is_some()
    }

    /// After a restore, the host receives all open questions again. Those that are not open any more
    /// are withdrawn.
    pub(crate) fn ask_again(&self) {
        self.find_withdrawn();
        self.questions.received.take();
        let mut withdrawn = self.questions.withdrawn.borrow_mut();
        if !withdrawn.is_empty() {
            self.each_open(|request| withdrawn.retain(|(key, _)| *key != request.key()));
        }
    }
}
