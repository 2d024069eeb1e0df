//! Types of states, values and events that have changed.

use super::{loads, talks};

#[test]
fn a_variant_at_the_end_is_no_change_and_one_at_the_front_is_found() {
    let end = talks!({
        #[derive(Debug, Serialize, Deserialize)]
        enum Mood { Calm, Angry }
        #[durable]
        pub(super) async fn talk() {
            let mood = with(|story: &mut Story| if story.len() > 3 { Mood::Calm } else { Mood::Angry });
            wait_seconds(1).await;
            say(format!("{mood:?}"));
        }
    } => {
        #[derive(Debug, Serialize, Deserialize)]
        enum Mood { Calm, Angry, Sad }
        #[durable]
        pub(super) async fn talk() {
            let mood = with(|story: &mut Story| if story.len() > 3 { Mood::Calm } else { Mood::Angry });
            wait_seconds(1).await;
            say(format!("{mood:?}"));
        }
    });
    loads(&end).are_right();
    let front = talks!({
        #[derive(Debug, Serialize, Deserialize)]
        enum Mood { Calm, Angry }
        #[durable]
        pub(super) async fn talk() {
            let mood = with(|story: &mut Story| if story.len() > 3 { Mood::Calm } else { Mood::Angry });
            wait_seconds(1).await;
            say(format!("{mood:?}"));
        }
    } => {
        #[derive(Debug, Serialize, Deserialize)]
        enum Mood { Sad, Calm, Angry }
        #[durable]
        pub(super) async fn talk() {
            let mood = with(|story: &mut Story| if story.len() > 3 { Mood::Calm } else { Mood::Angry });
            wait_seconds(1).await;
            say(format!("{mood:?}"));
        }
    });
    loads(&front).are_refused(0..10, "reads its recorded value as another one");
}

#[test]
fn fields_that_change_places_are_found() {
    let builds = talks!({
        #[derive(Debug, Serialize, Deserialize)]
        struct Spot { x: i32, y: i32 }
        #[durable]
        pub(super) async fn talk() {
            let spot = with(|_: &mut Story| Spot { x: 1, y: 9 });
            wait_seconds(1).await;
            say(format!("{} {}", spot.x, spot.y));
        }
    } => {
        #[derive(Debug, Serialize, Deserialize)]
        struct Spot { y: i32, x: i32 }
        #[durable]
        pub(super) async fn talk() {
            let spot = with(|_: &mut Story| Spot { x: 1, y: 9 });
            wait_seconds(1).await;
            say(format!("{} {}", spot.x, spot.y));
        }
    });
    loads(&builds).are_refused(0..10, "reads its recorded value as another one");
}

#[test]
fn events_that_a_wait_has_read_are_compared() {
    let builds = talks!({
        #[derive(Clone, Debug, Serialize, Deserialize)]
        struct Blow { strength: u32, side: u32 }
        const BLOW: Signal<Blow> = signal("patched blow");
        #[durable]
        pub(super) async fn talk() {
            let mut blows = BLOW.subscribe();
            BLOW.emit(Blow { strength: 7, side: 1 });
            let blow = blows.next().await.unwrap();
            wait_seconds(1).await;
            say(format!("{} {}", blow.strength, blow.side));
        }
    } => {
        #[derive(Clone, Debug, Serialize, Deserialize)]
        struct Blow { side: u32, strength: u32 }
        const BLOW: Signal<Blow> = signal("patched blow");
        #[durable]
        pub(super) async fn talk() {
            let mut blows = BLOW.subscribe();
            BLOW.emit(Blow { strength: 7, side: 1 });
            let blow = blows.next().await.unwrap();
            wait_seconds(1).await;
            say(format!("{} {}", blow.strength, blow.side));
        }
    });
    loads(&builds).are_refused(0..10, "reads its recorded value as another one");
}

#[test]
fn events_that_no_wait_has_read_are_compared() {
    let builds = talks!({
        const TOLD: Signal<(u8, u8)> = signal("patched told");
        #[durable]
        pub(super) async fn talk() {
            let mut told = TOLD.subscribe();
            TOLD.emit((1, 2));
            wait_seconds(1).await;
            say(format!("{:?}", told.next().await.unwrap()));
        }
    } => {
        const TOLD: Signal<u8> = signal("patched told");
        #[durable]
        pub(super) async fn talk() {
            let mut told = TOLD.subscribe();
            TOLD.emit(1);
            wait_seconds(1).await;
            say(format!("{:?}", told.next().await.unwrap()));
        }
    });
    loads(&builds).are_refused(0..10, "which it is not");
}

#[test]
fn a_value_of_another_type_is_found() {
    let builds = talks!({
        const STAGE: Watch<(u8, u8)> = watch("patched stage", Default::default);
        #[durable]
        pub(super) async fn talk() {
            STAGE.set((3, 4));
            wait_seconds(1).await;
            say(format!("{:?}", STAGE.get()));
        }
    } => {
        const STAGE: Watch<u8> = watch("patched stage", Default::default);
        #[durable]
        pub(super) async fn talk() {
            STAGE.set(3);
            wait_seconds(1).await;
            say(format!("{:?}", STAGE.get()));
        }
    });
    loads(&builds).are_refused(0..10, "patched stage");
}

#[test]
fn a_state_with_other_fields_is_found_and_described_it_is_read() {
    let swapped = talks!({
        #[durable]
        pub(super) async fn talk(coins: u32, guests: u32) {
            wait_seconds(1).await;
            say(format!("{coins} {guests}"));
        }
    } => {
        #[durable]
        pub(super) async fn talk(guests: u32, coins: u32) {
            wait_seconds(1).await;
            say(format!("{coins} {guests}"));
        }
    } with talk(3, 8) => talk(8, 3));
    let outcomes = loads(&swapped);
    let refused: Vec<usize> = outcomes.refused.iter().map(|(frame, _)| *frame).collect();
    assert_eq!(refused, (0..10).collect::<Vec<_>>(), "compact ones");
    assert!(
        outcomes.refused[0].1.contains("Save it described"),
        "{:?}",
        outcomes.refused[0]
    );
}

#[test]
fn a_state_with_another_number_or_variant_is_found() {
    let number = talks!({
        #[durable]
        pub(super) async fn talk(coins: u32) {
            wait_seconds(1).await;
            say(format!("{coins}"));
        }
    } => {
        #[durable]
        pub(super) async fn talk(coins: i32) {
            wait_seconds(1).await;
            say(format!("{coins}"));
        }
    } with talk(3) => talk(3));
    assert_eq!(loads(&number).refused.len(), 10);
    let variant = talks!({
        #[derive(Debug, Serialize, Deserialize)]
        pub(super) enum Mood { Calm, Angry }
        #[durable]
        pub(super) async fn talk(mood: Mood) {
            wait_seconds(1).await;
            say(format!("{mood:?}"));
        }
    } => {
        #[derive(Debug, Serialize, Deserialize)]
        pub(super) enum Mood { Sad, Calm, Angry }
        #[durable]
        pub(super) async fn talk(mood: Mood) {
            wait_seconds(1).await;
            say(format!("{mood:?}"));
        }
    } with talk(Mood::Angry) => talk(Mood::Angry));
    assert_eq!(loads(&variant).refused.len(), 10);
}

#[test]
fn a_field_with_another_name_is_found() {
    let builds = talks!({
        #[durable]
        pub(super) async fn talk(coins: u32) {
            say(format!("{coins}"));
            wait_seconds(1).await;
            say("end");
        }
    } => {
        #[durable]
        pub(super) async fn talk(money: u32) {
            say(format!("{money}"));
            wait_seconds(1).await;
            say("end");
        }
    } with talk(3) => talk(3));
    loads(&builds).are_refused(0..10, "");
}
