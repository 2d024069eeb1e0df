//! W6: what a parked coroutine costs in memory.
//!
//! Live bytes are those asked of the allocator and not given back; resident
//! ones are what the process has grown by. A process that has already freed
//! memory would not grow, so every system is measured in a child of its own.

use std::fmt;
use std::process::Command;

use crate::alloc;
use crate::systems::{Order, System};

pub(crate) const SIZES: &[usize] = &[100_000, 1_000_000];

/// Bytes per coroutine.
#[derive(Clone, Copy)]
pub(crate) struct Footprint {
    pub(crate) live: f64,
    pub(crate) resident: f64,
}

impl fmt::Display for Footprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} {:.3}", self.live, self.resident)
    }
}

/// Measures in this process, which must not have done anything else.
pub(crate) fn measure_here(system: &dyn System, size: usize) -> Footprint {
    let before = resident_bytes();
    let (world, allocated) = alloc::counted(|| {
        let mut world = system.awake(size, Order::Allocated)?;
        world.steps(2);
        Some(world)
    });
    let after = resident_bytes();
    if world.is_none() {
        eprintln!("{} has no coroutines to park", system.name());
        std::process::exit(1);
    }
    let live = if system.is_counted() {
        allocated.live_bytes as f64 / size as f64
    } else {
        f64::NAN
    };
    Footprint {
        live,
        resident: (after - before) / size as f64,
    }
}

/// Measures the system in a process of its own.
pub(crate) fn measure(system: &dyn System, size: usize) -> Option<Footprint> {
    let output = Command::new(std::env::current_exe().expect("this executable"))
        .args(["--footprint", system.name(), &size.to_string()])
        .output()
        .expect("this executable can be run");
    let text = String::from_utf8_lossy(&output.stdout);
    let mut numbers = text.split_whitespace().map(str::parse);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(live)), Some(Ok(resident))) => Some(Footprint { live, resident }),
        _ => None,
    }
}

/// Measures each system.
pub(crate) fn measure_all(
    systems: &[Box<dyn System>],
    size: usize,
) -> Vec<(&'static str, Footprint)> {
    let measured = |system: &dyn System| Some((system.name(), measure(system, size)?));
    systems
        .iter()
        .map(Box::as_ref)
        .filter_map(measured)
        .collect()
}

/// What of this process is in memory; not a number where there is no procfs.
fn resident_bytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kilobytes.map_or(f64::NAN, |kilobytes| kilobytes * 1024.0)
}
