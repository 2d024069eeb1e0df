//! What is handed over, requests to stop, comparisons with a save and what is done once in a frame: where
//! one meets another.

use std::cell::RefCell;
use std::rc::Rc;

use framestep_durable::prelude::*;

use crate::twin::{Game, Log, MOMENTS, log, moment, quiet, what};

const KNOCK: Signal<u8> = signal("knock");
const PAIRS: Signal<(u8, u8)> = signal("knock");

// -- Comparisons with a save ---------------------------------------------------------------------

macro_rules! porters {
    ($($name:ident: $type:ty, ($knocks:ident, $others:ident) $body:block)*) => {
        $(
            mod $name {
                use super::*;

                /// Has used no subscription yet; or awaits one in its first or its second chapter.
                #[durable(state = Porter)]
                pub(super) async fn porter(
                    mut $knocks: Unread<$type>,
                    mut $others: Unread<$type>,
                    chapters: u8,
                ) -> Chapter {
                    if chapters > 0 {
                        let _ = ($knocks.missed(), $others.missed());
                        return Chapter::Next(porter($knocks, $others, chapters - 1));
                    }
                    $body
                    wait_seconds(9).await;
                    Chapter::Done(())
                }
            }
        )*
    };
}

porters! {
    unused: u8, (_knocks, _others) {}
    unused_pairs: (u8, u8), (_knocks, _others) {}
    numbers: u8, (knocks, _others) { knocks.next().await; }
    pairs: (u8, u8), (knocks, _others) { knocks.next().await; }
    others: u8, (_knocks, others) { others.next().await; }
}

/// What loading says in another build: as `check`, `dry_run` and a restore say it.
fn said<S: DurableScript>(save: &SaveState) -> Option<String> {
    let save = SaveState::from_bytes(&save.to_bytes()).unwrap();
    let errors = Registry::new().with::<S>().check(&save);
    let dry_run = Registry::new().with::<S>().dry_run(&save);
    let restored = Runtime::new(Registry::new().with::<S>()).restore(&save, Policy::Fail);
    assert_eq!(dry_run.is_compatible(), restored.is_ok());
    let said = restored.err().map(|error| error.to_string());
    let first = errors.first().map(ToString::to_string);
    assert_eq!(first, said);
    said
}

const MISREAD: &str = "the save has an event of `knock` that it has not read yet; now it reads that as \
                       a `(u8, u8)`, which it is not";

#[test]
fn an_event_of_a_subscription_in_a_state_that_is_read_as_another_type_is_an_error() {
    for chapters in [0, 2] {
        for is_begun in [false, true] {
            let runtime = Runtime::new(Registry::new().script(unused::porter));
            let porter = unused::porter(Unread::of(&KNOCK), Unread::of(&KNOCK), chapters);
            if is_begun {
                runtime.start(porter).detach();
            } else {
                runtime.spawn(porter).detach();
            }
            let case = format!("{chapters} {is_begun}");
            let save = runtime.save().unwrap();
            // There is nothing to misread.
            assert_eq!(said::<unused_pairs::Porter>(&save), None, "{case}");
            runtime.named(&KNOCK).emit(3);
            let save = runtime.save().unwrap();
            assert_eq!(said::<unused::Porter>(&save), None, "{case}");
            let error = said::<unused_pairs::Porter>(&save).unwrap_or_default();
            assert!(error.contains(MISREAD), "{case}: {error}");
        }
    }
}

#[test]
pub(crate) fn a_restart_drops_the_events_that_its_code_cannot_read() {
    for policy in [Policy::Restart, Policy::RestartAfterWait] {
        let runtime = Runtime::new(Registry::new().script(unused::porter));
        let porter = unused::porter(Unread::of(&KNOCK), Unread::of(&KNOCK), 1);
        runtime.start(porter).detach();
        runtime.named(&KNOCK).emit(3);
        let save = runtime.save_state().unwrap().to_bytes();
        let save = SaveState::from_bytes(&save).unwrap();
        // A host of another build, whose signal of that name has pairs.
        let mut runtime = Runtime::new(Registry::new().script(unused::porter));
        runtime.restore(&save, Policy::Fail).unwrap();
        runtime.named(&PAIRS).emit((4, 5));
        let save = runtime.save_state().unwrap().to_bytes();
        let save = SaveState::from_bytes(&save).unwrap();

        let mut runtime = Runtime::new(Registry::new().script(unused_pairs::porter));
        let lost = Rc::new(RefCell::new(Vec::new()));
        let heard = Rc::clone(&lost);
        runtime.on_loss(move |loss| heard.borrow_mut().push(loss.to_string()));
        runtime.restore(&save, policy).unwrap();
        let lost = lost.take();
        let expected = "reads the signal `knock` as another type, so 1 events";
        assert_eq!(lost.len(), 2, "{policy:?}: {lost:?}");
        assert!(lost.iter().all(|loss| loss.contains(expected)), "{lost:?}");
        // There is nothing left that it cannot read.
        let save = runtime.save().unwrap();
        assert_eq!(said::<unused_pairs::Porter>(&save), None, "{policy:?}");
    }
}

#[test]
fn an_event_of_a_pair_is_read_as_one_again() {
    let runtime = Runtime::new(Registry::new().script(unused_pairs::porter));
    let porter = unused_pairs::porter(Unread::of(&PAIRS), Unread::of(&PAIRS), 1);
    runtime.start(porter).detach();
    runtime.named(&PAIRS).emit((3, 4));
    let save = runtime.save().unwrap();
    assert_eq!(said::<unused_pairs::Porter>(&save), None);
}

#[test]
fn an_event_for_a_subscription_that_is_awaited_is_compared_as_well() {
    for chapters in [0, 2] {
        let runtime = Runtime::new(Registry::new().script(numbers::porter));
        let porter = numbers::porter(Unread::of(&KNOCK), Unread::of(&KNOCK), chapters);
        runtime.start(porter).detach();
        let save = runtime.save().unwrap();
        assert_eq!(said::<numbers::Porter>(&save), None);
        runtime.named(&KNOCK).emit(3);
        let save = runtime.save().unwrap();
        assert_eq!(said::<numbers::Porter>(&save), None);
        assert!(said::<pairs::Porter>(&save).unwrap().contains(MISREAD));
    }
}

#[test]
fn a_wait_for_another_subscription_of_the_state_is_an_error() {
    for chapters in [0, 2] {
        let runtime = Runtime::new(Registry::new().script(numbers::porter));
        let porter = numbers::porter(Unread::of(&KNOCK), Unread::of(&KNOCK), chapters);
        runtime.start(porter).detach();
        let save = runtime.save().unwrap();
        let error = said::<others::Porter>(&save).unwrap();
        let expected = "the save has it awaiting `subscription.next()` for `knock`";
        assert!(error.contains(expected), "{error}");
        assert!(
            error.contains("; now it is for the subscription "),
            "{error}"
        );
    }
}

// -- The history of a script ---------------------------------------------------------------------

#[derive(Serialize, Deserialize)]
struct Opens;

impl Request for Opens {
    const NAME: &'static str = "opens";
    type Answer = bool;
}

/// What a script has done before it asks: the same afterwards, whatever it was told.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Before {
    /// It has read an event, and has handed its subscription to the next chapter.
    Chapter,
    /// It has handed it to the script that asks.
    Child,
    /// It knows whether it was requested to stop.
    IsAsked,
    /// It has awaited for some time that it is requested to stop.
    Asked,
}

#[durable]
async fn asks(mut knocks: Unread<u8>, before: Option<Before>) -> Chapter {
    match before {
        None => {}
        Some(Before::Chapter) => {
            knocks.next().await;
            next_frame().await;
            return Chapter::Next(asks(knocks, None));
        }
        Some(Before::Child) => {
            knocks.next().await;
            next_frame().await;
            let _ = start(asks(knocks, None)).await;
            return Chapter::Done(());
        }
        Some(Before::IsAsked) => {
            wait_frames(2).await;
            is_stop_requested();
        }
        Some(Before::Asked) => {
            let limit = timeout(0.15, stop_requested()).await;
            wait_frames(u64::from(limit.is_ok())).await;
        }
    }
    ask(|| Opens).await;
    Chapter::Done(())
}

/// The id of the question, after the host has done one of two things.
fn question(runtime: &mut Runtime, save: &SaveState, one: bool) -> RequestId<Opens> {
    runtime.rollback(save).unwrap();
    let script = runtime.scripts()[0].0;
    runtime.named(&KNOCK).emit(u8::from(one));
    if one {
        runtime.enter(|| request_stop(script));
    }
    let mut asked = Vec::new();
    while asked.is_empty() {
        runtime.run_frame(0.1);
        asked = runtime.requests::<Opens>();
        assert!(runtime.checksum().is_ok());
        runtime.verify().unwrap();
    }
    asked.remove(0).0
}

#[test]
fn events_that_were_handed_over_and_requests_to_stop_are_a_part_of_the_history() {
    use Before::{Asked, Chapter, Child, IsAsked};

    for before in [Chapter, Child, IsAsked, Asked] {
        let mut runtime = Runtime::new(Registry::new().script(asks));
        let begins = asks(Unread::of(&KNOCK), Some(before));
        runtime.start(begins).detach();
        let save = runtime.save_state().unwrap();
        let undone = question(&mut runtime, &save, false);
        let now = question(&mut runtime, &save, true);
        assert_ne!(undone, now, "{before:?}");
        assert!(!runtime.answer(undone, &true), "{before:?}");
        assert!(runtime.is_open(now), "{before:?}");
        // Run again as it was, it is the same question: also after a load.
        assert_eq!(question(&mut runtime, &save, true), now, "{before:?}");
        let file = SaveState::from_bytes(&save.to_bytes()).unwrap();
        assert_eq!(question(&mut runtime, &file, false), undone, "{before:?}");
    }
}

// -- A game with all of them ---------------------------------------------------------------------

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Shift {
    /// Reads events, a chapter for each.
    Guards,
    /// Was requested to stop, and goes on with the subscription in another script.
    Relieves,
    /// Goes on where an asked one has ended.
    Relieved,
}

/// A guard who hands over what he has not heard when he is asked to go.
#[derive(Serialize, Deserialize)]
struct Guard {
    knocks: Unread<u8>,
    rounds: Schedule,
    shift: Shift,
    next: OwnerId,
}

impl DurableScript for Guard {
    const NAME: &'static str = "guard";
    type Output = ();

    async fn run(mut self) -> Chapter<Self> {
        let shift = self.shift.clone();
        match self.shift {
            Shift::Guards | Shift::Relieved => {
                select! {
                    biased;
                    () = stop_requested() => self.shift = Shift::Relieves,
                    knock = self.knocks.next() => log(format!("{shift:?} {}", knock.unwrap())),
                    _ = self.rounds.tick() => log(format!("{shift:?} goes round")),
                }
                effect_once_per_frame(format!("{shift:?}"), || ());
                // Deaf for a while.
                wait_frames(1).await;
                Chapter::Next(self)
            }
            Shift::Relieves => {
                log(format!("{shift:?}, asked {}", is_stop_requested()));
                let next = Guard {
                    knocks: self.knocks,
                    rounds: interval(0.35).into(),
                    shift: Shift::Relieved,
                    next: self.next,
                };
                self.next.start(next).detach();
                wait_frames(1).await;
                Chapter::Done(())
            }
        }
    }
}

/// Gives a level some time to end, while it knocks.
#[durable]
async fn knocks(level: OwnerId, next: OwnerId) {
    for knock in 0..3 {
        KNOCK.emit(knock);
        KNOCK.emit(knock + 10);
        next_frame().await;
    }
    let stopped = level.stop_within(0.5);
    for knock in 3..6 {
        KNOCK.emit(knock);
        next_frame().await;
    }
    log(format!("{} stopped", stopped.await));
    KNOCK.emit(6);
    wait_frames(6).await;
    // He has no one to hand over to.
    log(format!("{} stopped", next.stop_within(0.1).await));
}

/// Does not hear the request.
#[durable]
async fn deaf(mut knocks: Unread<u8>) -> Chapter {
    log(format!("deaf {}", knocks.next().await.unwrap()));
    wait_seconds(0.3).await;
    Chapter::Next(deaf(knocks))
}

fn blank() -> Runtime {
    quiet(Registry::new().with::<Guard>().script(knocks).script(deaf))
}

fn begin(runtime: &mut Runtime, log: &mut Log) {
    let (level, next) = (runtime.owner(), runtime.owner());
    runtime.lend(log, |runtime| {
        let guard = Guard {
            knocks: Unread::of(&KNOCK),
            rounds: interval(0.35).into(),
            shift: Shift::Guards,
            next,
        };
        runtime.enter(|| level.start(guard)).detach();
        runtime
            .enter(|| level.start(deaf(Unread::of(&KNOCK))))
            .detach();
        runtime.start(knocks(level, next)).detach();
    });
}

#[test]
fn a_script_that_is_requested_to_stop_hands_over_alike_after_each_save_and_rollback() {
    let game = Game {
        blank,
        begin,
        frame: moment,
        frames: 16 * MOMENTS,
    };
    let end = game.assert_like_its_twin();
    let lines = what(&end);
    for knock in [0, 10, 1, 11, 2, 12, 3, 4, 5, 6] {
        let heard = ["Guards", "Relieved"].map(|who| format!("{who} {knock}"));
        let count = lines
            .iter()
            .filter(|line| heard.iter().any(|it| it == *line));
        assert_eq!(count.count(), 1, "{knock}: {lines:#?}");
    }
    for expected in ["Relieves, asked true", "deaf 0", "1 stopped"] {
        assert!(lines.contains(&expected), "{expected}: {lines:#?}");
    }
}
