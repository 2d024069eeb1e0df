//! Sparks: each is an entity with a script, which despawns it at the end.

use bevy::prelude::*;
use bevy_framestep::prelude::*;

use crate::art::{Drawn, Picture};
use crate::dice::{any_way, roll};
use crate::layer;
use crate::level::Prop;

/// Sparks in all directions.
pub(crate) fn burst(at: Vec2, colour: Color, count: usize) {
    for _ in 0..count {
        let speed = any_way() * roll(40.0..190.0);
        throw(at, speed, colour, roll(4.0..11.0));
    }
}

/// A spark that rises from a fire.
pub(crate) fn ember(at: Vec2) {
    let speed = vec2(roll(-14.0..14.0), roll(20.0..55.0));
    throw(at, speed, Color::srgb(1.0, 0.6, 0.2), roll(3.0..6.0));
}

fn throw(at: Vec2, speed: Vec2, colour: Color, size: f32) {
    let seconds = roll(0.35..0.8);
    let spark = Picture::Spark.tinted(size, colour);
    let place = Transform::from_translation(at.extend(layer::SPARK));
    let scripts = Scripts::of(move |spark| fly(spark, speed, seconds));
    commands(|commands| commands.spawn((Prop, spark, place, scripts)).id());
}

/// The script of a spark: it gets slower and paler, and then disappears.
async fn fly(spark: Entity, speed: Vec2, seconds: f32) -> Result<(), Missing> {
    let from = spark.get(|place: &Transform| place.translation)?;
    animate(seconds, |t| {
        let way = speed * seconds * (t - t * t / 2.0);
        let moved = spark.with(|place: &mut Transform, drawn: &mut Drawn| {
            place.translation = from + way.extend(0.0);
            drawn.color.set_alpha(1.0 - t * t);
        });
        moved.expect("its scripts end with the spark");
    })
    .await;
    spark.despawn()
}
