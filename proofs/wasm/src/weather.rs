//! A script with floats and maps in all places where a value can be: in its state, in values and
//! signals, in what its effects return and in the world. It uses what is the same on all targets.

use std::collections::{BTreeMap, BTreeSet};

use framestep_durable::prelude::*;
use indexmap::IndexMap;

use crate::saves::World;

const WINDS: Watch<BTreeMap<u32, f32>> = watch("winds", Default::default);
const STORM: Signal<(f64, BTreeSet<String>)> = signal("storm");

/// What scripts do with it must be the same on all targets.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Sky {
    /// In the order in which they were added.
    clouds: IndexMap<String, f64>,
    /// What could not be measured is not a number.
    measured: Vec<f32>,
}

/// A day, and what is left of those before it.
#[durable]
pub async fn weather(
    day: u32,
    winds: BTreeMap<u32, f32>,
    clouds: IndexMap<String, f64>,
    sum: f64,
) -> Chapter {
    wait_seconds(0.07 + sum.abs().fract() / 5.0).await;
    let results = with(move |world: &mut World| {
        let results = arithmetic(world.speed + sum, world.light, day);
        let rain = results.iter().fold(0.0, |rain, result| rain + result / 1e3);
        world
            .sky
            .clouds
            .insert(format!("cloud {}", day * 7 % 5), rain);
        if matches!(day % 3, 0) {
            world.sky.clouds.shift_remove("cloud 2");
        }
        world.sky.measured.push(canonical(world.light / 0.0 * 0.0));
        results
    });
    let mut winds = winds;
    for (from, result) in (0..).zip(&results) {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "it rounds the same way everywhere"
        )]
        let force = *result as f32;
        *winds.entry(from * 5 % 7).or_insert(0.5) -= force / 3.0;
    }
    WINDS.set(winds.clone());
    let strongest = winds.values().copied().max_by(f32::total_cmp);
    let names: BTreeSet<String> = clouds.keys().cloned().collect();
    STORM.emit((f64::from(strongest.unwrap_or(0.0)), names));
    let clouds = with_ref(|world: &World| world.sky.clouds.clone());
    let sum = results.iter().fold(sum, |sum, result| (sum + result) * 0.5);
    Chapter::Next(weather(day + 1, winds, clouds, sum))
}

/// Records storms.
#[durable]
pub async fn warning(least: f64) -> Chapter {
    let (force, names) = STORM.wait().await;
    let winds = WINDS.get();
    with(move |world: &mut World| {
        let rose = winds.values().map(|wind| wind.to_bits().to_string());
        let rose = rose.collect::<Vec<_>>().join(" ");
        world
            .log
            .push(format!("storm of {force} in {names:?}: {rose}"));
    });
    Chapter::Next(warning(least.max(force) / 2.0))
}

/// A number, or the one NaN that is the same on all targets: the bits of others differ.
fn canonical(number: f32) -> f32 {
    if number.is_nan() { f32::NAN } else { number }
}

/// The operations that are the same on all targets.
fn arithmetic(x: f64, y: f32, day: u32) -> Vec<f64> {
    let z = f64::from(day) / 7.0 - x;
    let wide = f64::from(y);
    // Read and written exactly.
    let text = format!("{x} {y:e}");
    let (read, read_short) = text.split_once(' ').expect("it has a space");
    let read: f64 = read.parse().expect("a number");
    let short: f32 = read_short.parse().expect("a number");
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "casts saturate the same way everywhere"
    )]
    let casts = [
        x as i32,
        (z * 1e300) as i32,
        (x - x / 0.0 * 0.0) as i32,
        (z as u8).into(),
        z as f32 as i32,
    ];
    let casts = casts.map(f64::from).iter().sum::<f64>() / 1e9;
    // Fused: rounded once.
    let fused = x.mul_add(z, -wide) + f64::from(y.mul_add(0.1, 1e-3));
    let tiny = f64::from_bits(u64::from(day) + 3) * 0.5 * 1e308 * 1e10
        + f64::from(f32::from_bits(day) / 3.0);
    let rounded = [
        x.floor(),
        z.ceil(),
        (x * 10.0).round(),
        (z * 2.5).round_ties_even(),
        wide.trunc(),
        x.fract(),
    ];
    let least = rounded
        .iter()
        .copied()
        .min_by(f64::total_cmp)
        .unwrap_or(0.0);
    vec![
        x + z - wide * 1.1 / 0.3,
        (x * x + z * z).sqrt(),
        f64::from((y * y + 1.5).sqrt()),
        fused,
        x % 0.7 + z.rem_euclid(0.3),
        z.abs().copysign(x - 1.0),
        rounded.iter().sum::<f64>() - least,
        f64::from(short) - read,
        casts,
        tiny,
        // Not those of the standard library.
        libm::sin(x) * libm::exp(-wide)
            + libm::pow(z.abs() + 1.0, 0.37)
            + f64::from(libm::atan2f(y, 0.4)),
    ]
}
