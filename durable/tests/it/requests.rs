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
    runtime.stop(other);
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
