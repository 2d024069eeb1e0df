//! Types of states, values and events that have changed.

use super::{loads, modules};

/// Two builds of a script `talk`, each with items of its own.
macro_rules! typed {
    ({ $($before:tt)* } => { $($after:tt)* } with $value:expr => $value_after:expr) => {
        modules!({
            $($before)*
            pub(super) fn registry() -> Registry { Registry::new().with::<Talk>() }
            pub(super) fn begin() -> Talk { $value }
        } => {
            $($after)*
            pub(super) fn registry() -> Registry { Registry::new().with::<Talk>() }
            pub(super) fn begin() -> Talk { $value_after }
        })
    };
}

#[test]
fn a_variant_at_the_end_is_no_change_and_one_at_the_front_is_found() {
    let end = typed!({
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
        enum Mood { Calm, Angry, #[allow(dead_code)] Sad }
        #[durable]
        pub(super) async fn talk() {
            let mood = with(|story: &mut Story| if story.len() > 3 { Mood::Calm } else { Mood::Angry });
            wait_seconds(1).await;
            say(format!("{mood:?}"));
        }
    } with talk() => talk());
    loads(&end).are_right();
    let front = typed!({
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
        enum Mood { #[allow(dead_code)] Sad, Calm, Angry }
        #[durable]
        pub(super) async fn talk() {
            let mood = with(|story: &mut Story| if story.len() > 3 { Mood::Calm } else { Mood::Angry });
            wait_seconds(1).await;
            say(format!("{mood:?}"));
        }
    } with talk() => talk());
    loads(&front).are_refused(0..10, "reads its recorded value as another one");
}

#[test]
fn fields_that_change_places_are_found() {
    let builds = typed!({
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
    } with talk() => talk());
    loads(&builds).are_refused(0..10, "reads its recorded value as another one");
}

#[test]
fn events_that_a_wait_has_read_are_compared() {
    let builds = typed!({
        #[derive(Clone, Debug, Serialize, Deserialize)]
        struct Blow { strength: u32, side: u32 }
        const BLOW: Signal<Blow> = signal("patched blow");
        #[durable]
        pub(super) async fn talk() {
            let mut blows = BLOW.subscribe();
            BLOW.emit(Blow { strength: 7, side: 1 });
            let blow = blows.next().await;
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
            let blow = blows.next().await;
            wait_seconds(1).await;
            say(format!("{} {}", blow.strength, blow.side));
        }
    } with talk() => talk());
    loads(&builds).are_refused(0..10, "reads its recorded value as another one");
}

#[test]
fn events_that_no_wait_has_read_are_compared() {
    let builds = typed!({
        const TOLD: Signal<(u8, u8)> = signal("patched told");
        #[durable]
        pub(super) async fn talk() {
            let mut told = TOLD.subscribe();
            TOLD.emit((1, 2));
            wait_seconds(1).await;
            say(format!("{:?}", told.next().await));
        }
    } => {
        const TOLD: Signal<u8> = signal("patched told");
        #[durable]
        pub(super) async fn talk() {
            let mut told = TOLD.subscribe();
            TOLD.emit(1);
            wait_seconds(1).await;
            say(format!("{:?}", told.next().await));
        }
    } with talk() => talk());
    loads(&builds).are_refused(0..10, "which it is not");
}

#[test]
fn a_value_of_another_type_is_found() {
    let builds = typed!({
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
    } with talk() => talk());
    loads(&builds).are_refused(0..10, "patched stage");
}

#[test]
fn a_state_with_other_fields_is_found_and_described_it_is_read() {
    let swapped = typed!({
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
    let number = typed!({
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
    let variant = typed!({
        #[derive(Debug, Serialize, Deserialize)]
        pub(super) enum Mood { #[allow(dead_code)] Calm, Angry }
        #[durable]
        pub(super) async fn talk(mood: Mood) {
            wait_seconds(1).await;
            say(format!("{mood:?}"));
        }
    } => {
        #[derive(Debug, Serialize, Deserialize)]
        pub(super) enum Mood { #[allow(dead_code)] Sad, #[allow(dead_code)] Calm, Angry }
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
    let builds = typed!({
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
