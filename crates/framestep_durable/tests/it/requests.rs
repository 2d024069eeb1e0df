//! Questions that cannot be read, and ids of questions that a rollback has taken back.

use std::panic::{AssertUnwindSafe, catch_unwind};

use framestep_durable::prelude::*;

#[derive(Serialize, Deserialize)]
struct Number(u32);

impl Request for Number {
    const NAME: &'static str = "question";
    type Answer = u32;
}

/// Has the name of another question.
#[derive(Serialize, Deserialize)]
struct Text(String);

impl Request for Text {
    const NAME: &'static str = "question";
    type Answer = u32;
}

#[derive(Serialize, Deserialize)]
struct Name;

impl Request for Name {
    const NAME: &'static str = "name";
    type Answer = String;
}

#[derive(Serialize, Deserialize)]
enum Asks {
    Number,
    Text,
    Name,
}

impl DurableScript for Asks {
    const NAME: &'static str = "asks";
    type Output = String;

    async fn run(self) -> Chapter<Self> {
        Chapter::Done(match self {
            Asks::Number => ask(|| Number(1)).await.to_string(),
            Asks::Text => ask(|| Text("hello".into())).await.to_string(),
            Asks::Name => ask(|| Name).await,
        })
    }
}

fn blank() -> Runtime {
    Runtime::new(Registry::new().with::<Asks>())
}

#[test]
fn a_question_that_cannot_be_read_loses_no_other() {
    let runtime = blank();
    runtime.start(Asks::Number).detach();
    let other = runtime.start(Asks::Text).id();
    let asked = catch_unwind(AssertUnwindSafe(|| runtime.requests::<Number>()));
    assert!(asked.is_err());
    runtime.enter(|| stop(other));
    assert_eq!(runtime.requests::<Number>().len(), 1);
    assert_eq!(runtime.requests::<Number>().len(), 0);
}

#[test]
fn an_id_from_before_a_rollback_answers_no_question_of_another_name() {
    let mut runtime = blank();
    let save = runtime.save_state().unwrap();
    runtime.start(Asks::Number).detach();
    let (old, _) = runtime.requests::<Number>()[0];
    runtime.rollback(&save).unwrap();
    let script = runtime.start(Asks::Name);
    let (id, Name) = runtime.requests()[0];
    assert!(!runtime.answer(old, &77));
    assert_eq!(runtime.requests::<Name>().len(), 0, "it has been taken");
    assert!(runtime.answer(id, &"Anna".into()));
    runtime.run_frame(0.1);
    assert_eq!(runtime.take(script), Some(Ok("Anna".into())));
}

/// Gives up after a while, asks again, and is asked something else meanwhile.
#[durable]
async fn hesitates() -> u32 {
    for _ in 0..2 {
        if let Ok(answer) = timeout(0.2, ask(|| Number(7))).await {
            return answer;
        }
    }
    ask(|| Number(8)).await
}

fn hesitating() -> Runtime {
    Runtime::new(Registry::new().script(hesitates))
}

#[test]
fn a_question_that_is_withdrawn_is_told_once() {
    let mut runtime = hesitating();
    let script = runtime.start(hesitates());
    assert!(runtime.withdrawn::<Number>().is_empty());
    let (first, Number(7)) = runtime.requests::<Number>()[0] else {
        panic!("another question");
    };
    assert!(runtime.is_open(first) && first.number() == 1);
    for _ in 0..2 {
        runtime.run_frame(0.1);
    }
    assert!(!runtime.is_open(first) && !runtime.answer(first, &1));
    // Whether the host asks for new ones before or after.
    let (second, _) = runtime.requests::<Number>()[0];
    assert!(first < second);
    assert!(runtime.withdrawn::<Name>().is_empty());
    assert_eq!(runtime.withdrawn::<Number>(), [first]);
    assert!(runtime.withdrawn::<Number>().is_empty());
    assert!(runtime.answer(second, &3));
    assert!(!runtime.is_open(second), "it has its answer");
    runtime.run_frame(0.1);
    assert_eq!(runtime.take(script), Some(Ok(3)));
    assert!(runtime.withdrawn::<Number>().is_empty(), "it was answered");
    // One that the host has not received is not told, one of a script that is stopped is.
    let script = runtime.start(hesitates()).id();
    runtime.enter(|| stop(script));
    assert!(runtime.withdrawn::<Number>().is_empty());
    let script = runtime.start(hesitates()).id();
    let (third, _) = runtime.requests::<Number>()[0];
    runtime.enter(|| stop(script));
    assert_eq!(runtime.withdrawn::<Number>(), [third]);
}

#[test]
fn a_rollback_withdraws_what_was_asked_since_and_asks_the_rest_again() {
    let mut runtime = hesitating();
    runtime.start(hesitates()).detach();
    let (old, _) = runtime.requests::<Number>()[0];
    let save = runtime.save_state().unwrap();
    for _ in 0..2 {
        runtime.run_frame(0.1);
    }
    let (new, _) = runtime.requests::<Number>()[0];
    runtime.rollback(&save).unwrap();
    // The first one is open again, before the host has read that it was withdrawn.
    assert!(runtime.is_open(old) && !runtime.is_open(new));
    assert_eq!(runtime.withdrawn::<Number>(), [new]);
    let again: Vec<_> = runtime
        .requests::<Number>()
        .into_iter()
        .map(|(id, _)| id)
        .collect();
    assert_eq!(again, [old]);
    // Another timeline: the same number is another question.
    runtime.run_frame(0.3);
    let (other, _) = runtime.requests::<Number>()[0];
    assert_eq!(other.number(), new.number());
    assert_ne!(other, new);
    assert!(!runtime.is_open(new) && !runtime.answer(new, &9));
    assert!(runtime.answer(other, &5));
    // And the same timeline: it is the same question.
    runtime.rollback(&save).unwrap();
    for _ in 0..2 {
        runtime.run_frame(0.1);
    }
    assert!(runtime.is_open(new));
}

#[test]
fn an_id_is_saved_beside_the_game_and_names_the_same_question_after_a_load() {
    let runtime = hesitating();
    runtime.start(hesitates()).detach();
    let (id, _) = runtime.requests::<Number>()[0];
    let file = runtime.save().unwrap().to_bytes_with(&id);
    let (save, id) = SaveState::from_bytes_with::<RequestId<Number>>(&file).unwrap();
    let mut loaded = hesitating();
    loaded.restore(&save, Policy::Fail).unwrap();
    assert!(loaded.is_open(id));
    assert_eq!(loaded.requests::<Number>()[0].0, id);
    assert!(loaded.answer(id, &4));
    let json = serde_json::to_string(&id).unwrap();
    assert_eq!(
        serde_json::from_str::<RequestId<Number>>(&json).unwrap(),
        id
    );
}

#[test]
fn a_host_that_never_reads_what_was_withdrawn_keeps_the_latest() {
    let runtime = hesitating();
    let mut last = None;
    for _ in 0..1_100 {
        let script = runtime.start(hesitates()).id();
        last = runtime.requests::<Number>().pop().map(|(id, _)| id);
        runtime.enter(|| stop(script));
    }
    let withdrawn = runtime.withdrawn::<Number>();
    assert_eq!(withdrawn.len(), 1_024);
    assert_eq!(withdrawn.last().copied(), last);
}

/// Asks the same at the same time, whatever was answered before.
#[durable]
async fn interview(chapters: bool, children: bool) -> Chapter<u32> {
    ask(|| Number(0)).await;
    if chapters {
        return Chapter::Next(interview(false, children));
    }
    if children {
        let _ = start(asker()).await;
    }
    Chapter::Done(ask(|| Number(1)).await)
}

#[durable]
async fn asker() -> u32 {
    ask(|| Number(1)).await
}

/// The id of the second question, after the first one had this answer.
fn second_question(runtime: &mut Runtime, save: &SaveState, answer: u32) -> RequestId<Number> {
    runtime.rollback(save).unwrap();
    let (first, _) = runtime.requests::<Number>()[0];
    assert!(runtime.answer(first, &answer));
    runtime.run_frame(0.1);
    let (second, Number(content)) = runtime.requests::<Number>().remove(0);
    assert!(content < 2);
    second
}

#[test]
fn the_same_question_after_another_answer_has_another_id() {
    for (chapters, children) in [(false, false), (true, false), (false, true)] {
        let registry = Registry::new().script(interview).script(asker);
        let mut runtime = Runtime::new(registry);
        runtime.start(interview(chapters, children)).detach();
        let save = runtime.save_state().unwrap();
        let undone = second_question(&mut runtime, &save, 1);
        let now = second_question(&mut runtime, &save, 2);
        assert_ne!(undone, now);
        // The box of the future that was undone is answered late.
        assert!(!runtime.answer(undone, &5));
        assert!(runtime.is_open(now));
        // Run again as it was, it is the same question.
        assert_eq!(second_question(&mut runtime, &save, 2), now);
        assert_eq!(second_question(&mut runtime, &save, 1), undone);
    }
}

/// A file keeps what has led to a question.
#[test]
fn a_question_of_a_loaded_game_has_the_id_that_it_would_have_had() {
    let id = |loads: bool| {
        let registry = Registry::new().script(interview).script(asker);
        let mut runtime = Runtime::new(registry);
        runtime.start(interview(true, true)).detach();
        for answer in [3, 4] {
            let (question, _) = runtime.requests::<Number>()[0];
            runtime.answer(question, &answer);
            runtime.run_frame(0.1);
            if loads {
                let file = runtime.save().unwrap().to_bytes();
                let save = SaveState::from_bytes(&file).unwrap();
                runtime.restore(&save, Policy::Fail).unwrap();
            }
        }
        let (question, _) = runtime.requests::<Number>()[0];
        (
            serde_json::to_string(&question).unwrap(),
            runtime.checksum().unwrap(),
        )
    };
    assert_eq!(id(false), id(true));
}
