//! The story, from the first line to the last.

use bevy::prelude::*;
use bevy_framestep::prelude::*;

use crate::art::Drawn;
use crate::body::{place_in, until_near};
use crate::boss::Wake;
use crate::chest::{Appear, Emptied};
use crate::dialogue::say;
use crate::hero::{hero, hero_in, hold, let_go};
use crate::layer;
use crate::level::{ARENA, Prop};
use crate::light::{Ambient, DAWN, NIGHT};
use crate::stage::{Focus, HALF, MIDDLE, PANEL, Quake, Stage};
use crate::text::line;

/// The script of the story.
pub(crate) async fn tell(keeper: Entity, king: Entity, chest: Entity) -> Result<(), Missing> {
    resource_mut(|ambient: &mut Ambient| ambient.0 = NIGHT);
    resource_mut(|focus: &mut Focus| focus.0 = None);
    show_title("The Last Lantern").await?;
    until_near(hero(), keeper, 120.0).await;
    scene(keeper, async {
        say(
            "The keeper",
            "The hollow king has eaten the sun. It is night for good.",
        )
        .await?;
        say(
            "The keeper",
            "Guards walk the hall. The lever opens the gate.",
        )
        .await
    })
    .await?;

    wait_until_world(|world| hero_is_above(world, ARENA.y - 215.0)).await;
    scene(king, async {
        say("The king", "Who brings light into my hall?").await?;
        trigger(Wake(king));
        wait_seconds(1.2).await;
        Ok(())
    })
    .await?;

    end(king, chest).await
}

/// The end of the story, from the fight on.
pub(crate) async fn end(king: Entity, chest: Entity) -> Result<(), Missing> {
    king.despawned().await;
    write_message(Quake(12.0));
    wait_seconds(1).await;
    trigger(Appear(chest));
    dawn().await;
    chest.next_event::<Emptied>().await?;
    show_title("It is morning").await
}

/// A scene without player control: the view moves to somebody, and comes back.
async fn scene(
    about: Entity,
    happens: impl Future<Output = Result<(), Missing>>,
) -> Result<(), Missing> {
    hold(hero())?;
    resource_mut(|focus: &mut Focus| focus.0 = Some(about));
    let bars = spawn_bars();
    slide(bars, 0.0, 1.0).await;
    happens.await?;
    resource_mut(|focus: &mut Focus| focus.0 = None);
    slide(bars, 1.0, 0.0).await;
    for bar in bars {
        bar.despawn()?;
    }
    let_go(hero());
    Ok(())
}

/// Black bars above and below, as in the cinema.
fn spawn_bars() -> [Entity; 2] {
    let stage = resource(|stage: &Stage| stage.0);
    let size = vec2(2.0 * HALF.x - PANEL, 40.0);
    [1.0, -1.0].map(|side| {
        let bar = Drawn::plain(Color::BLACK, size);
        let at = MIDDLE + Vec2::Y * side * (HALF.y + size.y / 2.0);
        let place = Transform::from_translation(at.extend(layer::DISPLAY - 1.0));
        commands(|commands| commands.spawn((Prop, bar, place, ChildOf(stage))).id())
    })
}

async fn slide(bars: [Entity; 2], from: f32, to: f32) {
    animate(0.4, |t| {
        for (bar, side) in bars.into_iter().zip([1.0, -1.0]) {
            let y = side * (HALF.y + 20.0 - 40.0 * from.lerp(to, t));
            let moved = bar.get_mut(|place: &mut Transform| place.translation.y = y);
            moved.expect("nothing else despawns them while this runs");
        }
    })
    .await;
}

async fn dawn() {
    animate(4, |t| {
        resource_mut(|ambient: &mut Ambient| ambient.0 = NIGHT.lerp(DAWN, t));
    })
    .await;
}

/// Large letters, which come and go.
async fn show_title(words: &str) -> Result<(), Missing> {
    let stage = resource(|stage: &Stage| stage.0);
    let title = line(words, 52.0, Color::srgba(1.0, 0.9, 0.65, 0.0));
    let place = Transform::from_translation((MIDDLE + Vec2::Y * 90.0).extend(layer::TEXT));
    let title = commands(|commands| commands.spawn((Prop, title, place, ChildOf(stage))).id());
    for (from, to) in [(0.0, 1.0), (1.0, 0.0)] {
        animate(0.8, |t| {
            let alpha = from.lerp(to, t);
            let shown = title.get_mut(|colour: &mut TextColor| colour.0.set_alpha(alpha));
            shown.expect("nothing else despawns it while this runs");
        })
        .await;
        wait_seconds(1).await;
    }
    title.despawn()
}

fn hero_is_above(world: &World, y: f32) -> bool {
    let hero = place_in(world, hero_in(world));
    hero.is_some_and(|hero| hero.y > y)
}
