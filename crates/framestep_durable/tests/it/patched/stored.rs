//! Values that the runtime stores for a script: results, events, answers, what promises were resolved with. Each
//! can be read as a type whose fields have changed places, and means something else there.

use framestep_durable::prelude::*;

use super::{Story, loads, talks};

const MEANS_OTHER: &str = "had other names or another order";
const READS_OTHER: &str = "reads its recorded value as another one";

#[test]
fn a_result_that_was_not_joined_is_compared() {
    let builds = talks!({
        #[derive(Debug, Serialize, Deserialize)]
        pub(super) struct Loot { gold: u32, gems: u32 }
        #[durable]
        pub(super) async fn hunt() -> Loot { Loot { gold: 7, gems: 1 } }
        #[durable]
        pub(super) async fn talk() {
            let hunt = start(hunt());
            wait_seconds(1).await;
            let loot = hunt.await.unwrap();
            say(format!("{} {}", loot.gold, loot.gems));
        }
    } and hunt => {
        #[derive(Debug, Serialize, Deserialize)]
        pub(super) struct Loot { gems: u32, gold: u32 }
        #[durable]
        pub(super) async fn hunt() -> Loot { Loot { gold: 7, gems: 1 } }
        #[durable]
        pub(super) async fn talk() {
            let hunt = start(hunt());
            wait_seconds(1).await;
            let loot = hunt.await.unwrap();
            say(format!("{} {}", loot.gold, loot.gems));
        }
    } and hunt);
    loads(&builds).are_refused(0..10, MEANS_OTHER);
}

#[test]
fn a_result_that_was_joined_is_compared() {
    let builds = talks!({
        #[derive(Debug, Serialize, Deserialize)]
        pub(super) struct Loot { gold: u32, gems: u32 }
        #[durable]
        pub(super) async fn hunt() -> Loot { Loot { gold: 7, gems: 1 } }
        #[durable]
        pub(super) async fn talk() {
            let loot = start(hunt()).await.unwrap();
            wait_seconds(1).await;
            say(format!("{} {}", loot.gold, loot.gems));
        }
    } and hunt => {
        #[derive(Debug, Serialize, Deserialize)]
        pub(super) struct Loot { gems: u32, gold: u32 }
        #[durable]
        pub(super) async fn hunt() -> Loot { Loot { gold: 7, gems: 1 } }
        #[durable]
        pub(super) async fn talk() {
            let loot = start(hunt()).await.unwrap();
            wait_seconds(1).await;
            say(format!("{} {}", loot.gold, loot.gems));
        }
    } and hunt);
    loads(&builds).are_refused(0..10, READS_OTHER);
}

#[test]
fn what_a_promise_was_resolved_with_is_compared() {
    let builds = talks!({
        #[derive(Clone, Debug, Serialize, Deserialize)]
        struct Deal { price: u32, count: u32 }
        #[durable]
        pub(super) async fn talk() {
            let (resolver, deal) = promise("patched deal");
            resolver.send(Deal { price: 9, count: 2 }).unwrap();
            wait_seconds(1).await;
            let deal = deal.await.unwrap();
            wait_seconds(1).await;
            say(format!("{} {}", deal.price, deal.count));
        }
    } => {
        #[derive(Clone, Debug, Serialize, Deserialize)]
        struct Deal { count: u32, price: u32 }
        #[durable]
        pub(super) async fn talk() {
            let (resolver, deal) = promise("patched deal");
            resolver.send(Deal { price: 9, count: 2 }).unwrap();
            wait_seconds(1).await;
            let deal = deal.await.unwrap();
            wait_seconds(1).await;
            say(format!("{} {}", deal.price, deal.count));
        }
    });
    let outcomes = loads(&builds);
    outcomes.are_refused(0..20, "");
    let says = |frame: usize, why: &str| {
        let mut of_frame = outcomes.refused.iter().filter(|(at, _)| *at == frame);
        assert!(
            of_frame.all(|(_, reason)| reason.contains(why)),
            "{frame}: {:?}",
            outcomes.refused
        );
    };
    says(5, MEANS_OTHER);
    says(15, READS_OTHER);
}

#[test]
fn events_that_a_subscription_has_not_read_are_compared() {
    let builds = talks!({
        #[derive(Clone, Debug, Serialize, Deserialize)]
        struct Blow { strength: u32, side: u32 }
        const BLOW: Signal<Blow> = signal("patched unread blow");
        #[durable]
        pub(super) async fn talk() {
            let mut blows = BLOW.subscribe();
            BLOW.emit(Blow { strength: 7, side: 1 });
            wait_seconds(1).await;
            let blow = blows.next().await.unwrap();
            say(format!("{} {}", blow.strength, blow.side));
        }
    } => {
        #[derive(Clone, Debug, Serialize, Deserialize)]
        struct Blow { side: u32, strength: u32 }
        const BLOW: Signal<Blow> = signal("patched unread blow");
        #[durable]
        pub(super) async fn talk() {
            let mut blows = BLOW.subscribe();
            BLOW.emit(Blow { strength: 7, side: 1 });
            wait_seconds(1).await;
            let blow = blows.next().await.unwrap();
            say(format!("{} {}", blow.strength, blow.side));
        }
    });
    loads(&builds).are_refused(0..10, MEANS_OTHER);
}

#[test]
fn events_of_a_subscription_in_a_state_are_compared() {
    let builds = talks!({
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(super) struct Blow { strength: u32, side: u32 }
        pub(super) const BLOW: Signal<Blow> = signal("patched carried blow");
        #[durable]
        pub(super) async fn talk(mut blows: Unread<Blow>) {
            BLOW.emit(Blow { strength: 7, side: 1 });
            wait_seconds(1).await;
            let blow = blows.next().await.unwrap();
            wait_seconds(1).await;
            say(format!("{} {}", blow.strength, blow.side));
        }
    } => {
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(super) struct Blow { side: u32, strength: u32 }
        pub(super) const BLOW: Signal<Blow> = signal("patched carried blow");
        #[durable]
        pub(super) async fn talk(mut blows: Unread<Blow>) {
            BLOW.emit(Blow { strength: 7, side: 1 });
            wait_seconds(1).await;
            let blow = blows.next().await.unwrap();
            wait_seconds(1).await;
            say(format!("{} {}", blow.strength, blow.side));
        }
    } with talk(Unread::of(&BLOW)) => talk(Unread::of(&BLOW)));
    loads(&builds).are_refused(0..20, "");
}

#[test]
fn a_question_that_was_not_answered_is_compared() {
    let builds = talks!({
        #[derive(Debug, Serialize, Deserialize)]
        struct Choice { least: u32, most: u32 }
        impl Request for Choice {
            const NAME: &'static str = "patched choice";
            type Answer = u32;
        }
        #[durable]
        pub(super) async fn talk() {
            let _ = timeout(1, ask(|| Choice { least: 1, most: 4 })).await;
            say("end");
        }
    } => {
        #[derive(Debug, Serialize, Deserialize)]
        struct Choice { most: u32, least: u32 }
        impl Request for Choice {
            const NAME: &'static str = "patched choice";
            type Answer = u32;
        }
        #[durable]
        pub(super) async fn talk() {
            let _ = timeout(1, ask(|| Choice { least: 1, most: 4 })).await;
            say("end");
        }
    });
    loads(&builds).are_refused(0..10, MEANS_OTHER);
}

#[test]
fn a_new_branch_may_ask() {
    let builds = talks!({
        #[durable]
        pub(super) async fn talk() {
            select! {
                () = wait_seconds(2) => say("bored"),
            }
        }
    } => {
        #[derive(Debug, Serialize, Deserialize)]
        struct Choice;
        impl Request for Choice {
            const NAME: &'static str = "patched new choice";
            type Answer = u32;
        }
        #[durable]
        pub(super) async fn talk() {
            select! {
                () = wait_seconds(2) => say("bored"),
                chosen = ask(|| Choice) => say(format!("{chosen}")),
            }
        }
    });
    loads(&builds).are_right();
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Quiz(pub(crate) String);

impl Request for Quiz {
    const NAME: &'static str = "patched quiz";
    type Answer = String;
}

/// Saves a build that asks two questions, answers them in the other one, and returns what that says.
fn answers(before: Registry, begin: impl FnOnce(&Runtime), after: Registry) -> Story {
    let (mut runtime, mut story) = (Runtime::new(before), Story::new());
    begin(&runtime);
    runtime.run_frame_with(&mut story, 0.1);
    let file = runtime.save().unwrap().to_bytes();
    let mut runtime = Runtime::new(after);
    runtime
        .restore(&SaveState::from_bytes(&file).unwrap(), Policy::Fail)
        .unwrap();
    for (id, Quiz(text)) in runtime.requests::<Quiz>() {
        assert!(runtime.answer(id, &text.to_uppercase()));
    }
    for _ in 0..10 {
        runtime.run_frame_with(&mut story, 0.1);
    }
    story
}

#[test]
fn questions_of_one_statement_keep_their_answers_in_another_order() {
    let builds = talks!({
        use framestep::combine::join_all;
        #[durable]
        pub(super) async fn talk() {
            let asks = ["left", "right"].map(|text| ask(move || stored::Quiz(text.to_owned())));
            let [left, right]: [String; 2] = join_all(asks).await.try_into().unwrap();
            say(format!("left {left}, right {right}"));
        }
    } => {
        use framestep::combine::join_all;
        #[durable]
        pub(super) async fn talk() {
            let asks = ["right", "left"].map(|text| ask(move || stored::Quiz(text.to_owned())));
            let [right, left]: [String; 2] = join_all(asks).await.try_into().unwrap();
            say(format!("left {left}, right {right}"));
        }
    });
    let story = answers((builds.before)(), builds.begin, (builds.after)());
    assert_eq!(story, ["left LEFT, right RIGHT"]);
}

#[test]
fn questions_of_a_helper_keep_their_answers_in_another_order() {
    let builds = talks!({
        use framestep::combine::join_all;
        const SIDES: [&str; 2] = ["left", "right"];
        async fn asks() -> Vec<String> {
            join_all(SIDES.map(|text| ask(move || stored::Quiz(text.to_owned())))).await
        }
        #[durable]
        pub(super) async fn talk() {
            let answers = asks().await;
            say(format!("{SIDES:?} {answers:?}"));
        }
    } => {
        use framestep::combine::join_all;
        const SIDES: [&str; 2] = ["right", "left"];
        async fn asks() -> Vec<String> {
            join_all(SIDES.map(|text| ask(move || stored::Quiz(text.to_owned())))).await
        }
        #[durable]
        pub(super) async fn talk() {
            let answers = asks().await;
            say(format!("{SIDES:?} {answers:?}"));
        }
    });
    let story = answers((builds.before)(), builds.begin, (builds.after)());
    assert_eq!(story, [r#"["right", "left"] ["RIGHT", "LEFT"]"#]);
}

#[test]
fn questions_that_read_the_world_count_in_their_order() {
    let builds = talks!({
        use framestep::combine::join_all;
        #[durable]
        pub(super) async fn talk() {
            let asks = ["left", "right"].map(|text| ask(move || {
                with(move |story: &mut Story| stored::Quiz(format!("{text} {}", story.len())))
            }));
            let [left, right]: [String; 2] = join_all(asks).await.try_into().unwrap();
            say(format!("left {left}, right {right}"));
        }
    } => {
        use framestep::combine::join_all;
        #[durable]
        pub(super) async fn talk() {
            say("new");
            let asks = ["left", "right"].map(|text| ask(move || {
                with(move |story: &mut Story| stored::Quiz(format!("{text} {}", story.len())))
            }));
            let [left, right]: [String; 2] = join_all(asks).await.try_into().unwrap();
            say(format!("left {left}, right {right}"));
        }
    });
    let story = answers((builds.before)(), builds.begin, (builds.after)());
    assert_eq!(story, ["left LEFT 0, right RIGHT 0"]);
}
