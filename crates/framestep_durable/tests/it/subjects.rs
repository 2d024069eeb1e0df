//! Waits of another build with the name and the type of those in the save, but about something else:
//! another script, owner, subscription or promise of the same name; or for values of another type. Each
//! is an error of the load, of `check` and of `dry_run`, and not a panic of the script later.
//!
//! What pending waits are compared by, besides their call and its name:
//!
//! | wait | compared by | not compared: the save keeps it |
//! |---|---|---|
//! | `next_frame`, `wait_frames`, `wait_seconds`, `animate`, ticks, conditions | | length, clock, phase |
//! | a join, also of a group and of `when_each` | the script; the type of its result | |
//! | `owner.ended()` | the owner | |
//! | `stop_requested()` | | |
//! | `signal.wait()`, `wait_for()` | the type of the event | the key |
//! | `subscription.next()` | the subscription; the type of its events | |
//! | `value.changed()`, `wait_for()` | the type of the value | the key |
//! | `permits.acquire()` | | the key, and how many |
//! | `promise()` | the promise; the type of what it was resolved with | |
//! | `ask()` | the types of the question and of the answer | the content of the question |

use framestep_durable::prelude::*;

/// The script `hero` of a build, and what else it has.
trait Build {
    fn registry() -> Registry;
    fn hero(runtime: &Runtime);
}

macro_rules! builds {
    ($($name:ident($owners:ident) $body:block)*) => {
        $(
            mod $name {
                use super::*;

                #[derive(Serialize, Deserialize)]
                pub(super) struct Hero {
                    owners: [OwnerId; 2],
                }

                impl DurableScript for Hero {
                    const NAME: &'static str = "hero";
                    type Output = ();

                    async fn run(self) -> Chapter<Self> {
                        let $owners = self.owners;
                        $body
                        Chapter::Done(())
                    }
                }

                pub(super) struct This;

                impl Build for This {
                    fn registry() -> Registry {
                        Registry::new().with::<Hero>().script(child).script(idle)
                    }

                    fn hero(runtime: &Runtime) {
                        let owners = [runtime.owner(), runtime.owner()];
                        for owner in owners {
                            runtime.enter(|| owner.start(idle())).detach();
                        }
                        runtime.start(Hero { owners }).detach();
                    }
                }
            }
        )*
    };
}

#[durable]
async fn child(name: String) -> String {
    wait_seconds(9).await;
    name
}

#[durable]
async fn idle() {
    wait_seconds(9).await;
}

#[derive(Serialize, Deserialize)]
struct Path(u64);

impl Request for Path {
    const NAME: &'static str = "path";
    type Answer = u8;
}

/// The same question in a later build.
#[derive(Serialize, Deserialize)]
struct OtherPath(u64);

impl Request for OtherPath {
    const NAME: &'static str = "path";
    type Answer = (u8, u8);
}

/// A question with this name of another type.
#[derive(Serialize, Deserialize)]
struct NamedPath(String, String);

impl Request for NamedPath {
    const NAME: &'static str = "path";
    type Answer = u8;
}

const HIT: Signal<u8> = signal("hit");
const PAIR_HIT: Signal<(u8, u8)> = signal("hit");
const STAGE: Watch<u8> = watch("stage", Default::default);
const PAIR_STAGE: Watch<(u8, u8)> = watch("stage", Default::default);

builds! {
    red_first(_owners) {
        let red = start(child("red".into()));
        let blue = start(child("blue".into()));
        let _ = red.await;
        let _ = blue.await;
    }
    blue_first(_owners) {
        let blue = start(child("blue".into()));
        let red = start(child("red".into()));
        let _ = red.await;
        let _ = blue.await;
    }
    group_of_two(_owners) {
        let mut all = group();
        all.start(child("red".into()));
        all.start(child("blue".into()));
        let _ = all.join().await;
    }
    group_in_another_order(_owners) {
        let mut all = group();
        let first = start(child("red".into()));
        all.start(child("blue".into()));
        all.add(first);
        let _ = all.join().await;
    }
    each_of_two(_owners) {
        let (red, blue) = (start(child("red".into())), start(child("blue".into())));
        when_each([red, blue]).next().await;
    }
    each_the_other_way(_owners) {
        let (red, blue) = (start(child("red".into())), start(child("blue".into())));
        when_each([blue, red]).next().await;
    }
    first_owner(owners) { owners[0].ended().await; }
    second_owner(owners) { owners[1].ended().await; }
    first_events(_owners) {
        let mut all = [HIT.subscribe(), HIT.subscribe()];
        all[0].next().await;
    }
    second_events(_owners) {
        let mut all = [HIT.subscribe(), HIT.subscribe()];
        all[1].next().await;
    }
    first_promise(_owners) {
        let all = [promise::<u8>("menu"), promise("menu")];
        let [(_, one), (_, _other)] = all;
        let _ = one.await;
    }
    second_promise(_owners) {
        let all = [promise::<u8>("menu"), promise("menu")];
        let [(_, _one), (_, other)] = all;
        let _ = other.await;
    }
    numbers(_owners) { HIT.wait().await; }
    pairs(_owners) { PAIR_HIT.wait().await; }
    some_numbers(_owners) { HIT.wait_for(|_| true).await; }
    some_pairs(_owners) { PAIR_HIT.wait_for(|_| true).await; }
    unread_numbers(_owners) {
        let _unread = HIT.subscribe();
        wait_seconds(9).await;
    }
    unread_pairs(_owners) {
        let _unread = PAIR_HIT.subscribe();
        wait_seconds(9).await;
    }
    number_of_value(_owners) { STAGE.wait_for(|stage| *stage > 100).await; }
    pair_of_value(_owners) { PAIR_STAGE.wait_for(|stage| stage.0 > 100).await; }
    asks(_owners) { ask(|| Path(1)).await; }
    asks_for_a_pair(_owners) { ask(|| OtherPath(1)).await; }
    asks_another(_owners) { ask(|| NamedPath(String::new(), String::new())).await; }
    resolves_a_number(_owners) {
        let (resolver, later) = promise::<u8>("menu");
        let _ = resolver.send(3);
        wait_seconds(9).await;
        let _ = later.await;
    }
    resolves_a_pair(_owners) {
        let (resolver, later) = promise::<(u8, u8)>("menu");
        let _ = resolver.send((3, 4));
        wait_seconds(9).await;
        let _ = later.await;
    }
    promises_a_number(_owners) {
        let (_resolver, later) = promise::<u8>("menu");
        wait_seconds(9).await;
        let _ = later.await;
    }
    promises_a_pair(_owners) {
        let (_resolver, later) = promise::<(u8, u8)>("menu");
        wait_seconds(9).await;
        let _ = later.await;
    }
}

/// What loading says, as `check`, `dry_run` and a restore say it: without the places in this file.
fn load<Before: Build, After: Build>(act: impl Fn(&Runtime)) -> Result<(), String> {
    let mut runtime = Runtime::new(Before::registry());
    Before::hero(&runtime);
    runtime.run_frame(0.1);
    act(&runtime);
    let save = SaveState::from_bytes(&runtime.save().unwrap().to_bytes()).unwrap();
    let (errors, dry_run) = (
        After::registry().check(&save),
        After::registry().dry_run(&save),
    );
    let restored = Runtime::new(After::registry()).restore(&save, Policy::Fail);
    assert_eq!(errors.is_empty(), restored.is_ok());
    assert_eq!(dry_run.is_compatible(), restored.is_ok());
    restored.map(drop).map_err(|error| {
        let text = error.to_string();
        assert_eq!(errors[0].to_string(), text);
        let text = text.split(". Either its code").next().unwrap();
        let places = text.split(concat!(" at ", file!(), ":"));
        let places = places.map(|text| text.trim_start_matches(|c: char| c.is_ascii_digit()));
        let text: String = places.collect();
        let (_, text) = text.split_once(": ").unwrap();
        text.to_owned()
    })
}

fn other<Before: Build, After: Build>() -> String {
    load::<Before, After>(|_| {}).unwrap_err()
}

#[test]
fn a_join_of_another_script_of_the_same_name_is_an_error() {
    assert_eq!(
        other::<red_first::This, blue_first::This>(),
        "the save has it awaiting `join`, for the script #4; now it is for the script #5"
    );
    assert_eq!(
        other::<group_of_two::This, group_in_another_order::This>(),
        "the save has it awaiting `join`, for the script #4; now it is for the script #5"
    );
    assert_eq!(
        other::<each_of_two::This, each_the_other_way::This>(),
        "the save has it awaiting `join`, for the script #4; now it is for the script #5"
    );
}

#[test]
fn a_wait_for_the_end_of_another_owner_is_an_error() {
    assert_eq!(
        other::<first_owner::This, second_owner::This>(),
        "the save has it awaiting `ended()`, for the owner #1; now it is for the owner #2"
    );
}

#[test]
fn a_wait_for_another_subscription_of_the_same_signal_is_an_error() {
    let said = other::<first_events::This, second_events::This>();
    let begin = "the save has it awaiting `subscription.next()` for `hit`, for the subscription ";
    assert!(said.starts_with(begin), "{said}");
}

#[test]
fn a_wait_for_another_promise_of_the_same_name_is_an_error() {
    let said = other::<first_promise::This, second_promise::This>();
    let begin = "the save has it awaiting `promise()` for `menu`, for the promise ";
    assert!(said.starts_with(begin), "{said}");
}

#[test]
fn an_event_that_is_stored_as_another_type_is_an_error() {
    let emits = |runtime: &Runtime| runtime.named(&HIT).emit(3);
    assert_eq!(
        load::<numbers::This, pairs::This>(emits).unwrap_err(),
        "the save has an event of `hit`; now it reads that as a `(u8, u8)`, which it is not"
    );
    let unread = "the save has an event of `hit` that it has not read yet; now it reads that as a \
                  `(u8, u8)`, which it is not";
    assert_eq!(
        load::<some_numbers::This, some_pairs::This>(emits).unwrap_err(),
        unread
    );
    assert_eq!(
        load::<unread_numbers::This, unread_pairs::This>(emits).unwrap_err(),
        unread
    );
}

/// There is nothing to misread.
#[test]
fn another_type_without_a_stored_value_is_no_error() {
    assert_eq!(load::<numbers::This, pairs::This>(|_| {}), Ok(()));
    assert_eq!(
        load::<unread_numbers::This, unread_pairs::This>(|_| {}),
        Ok(())
    );
    assert_eq!(
        load::<promises_a_number::This, promises_a_pair::This>(|_| {}),
        Ok(())
    );
    assert_eq!(
        load::<number_of_value::This, pair_of_value::This>(|_| {}),
        Ok(())
    );
}

#[test]
fn a_value_of_another_type_is_an_error_if_a_script_awaits_it() {
    assert_eq!(
        load::<number_of_value::This, pair_of_value::This>(|runtime| runtime.named(&STAGE).set(3))
            .unwrap_err(),
        "the save has the value `stage`; now it reads that as a `(u8, u8)`, which it is not"
    );
}

#[test]
fn a_question_or_an_answer_of_another_type_is_an_error() {
    let answers = |runtime: &Runtime| {
        let (id, _) = runtime.requests::<Path>()[0];
        runtime.answer(id, &7);
    };
    assert_eq!(load::<asks::This, asks_for_a_pair::This>(|_| {}), Ok(()));
    assert_eq!(
        load::<asks::This, asks_for_a_pair::This>(answers).unwrap_err(),
        "the save has an answer to `path`; now it reads that as a `(u8, u8)`, which it is not"
    );
    let said = other::<asks::This, asks_another::This>();
    assert!(
        said.starts_with("the save has a question `path`; now it reads that as a "),
        "{said}"
    );
}

#[test]
fn a_promise_that_was_resolved_with_another_type_is_an_error() {
    let said = other::<resolves_a_number::This, resolves_a_pair::This>();
    assert_eq!(
        said,
        "the save has what the promise `menu` was resolved with; now it reads that as a `(u8, u8)`, \
         which it is not"
    );
}
