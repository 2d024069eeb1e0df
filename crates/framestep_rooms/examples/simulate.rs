//! Runs histories of the protocol, with all kinds of trouble: `--histories 100000 --seed 1`. `--mutant
//! NAME` injects a bug, which must be found; `--each` injects each of them, and says after how many
//! histories it was found; `--print` prints the history of the seed.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use framestep_rooms::simulate::{self, Counts};

fn main() -> ExitCode {
    let (mut histories, mut seed, mut mutant) = (10_000_u64, 1_u64, None);
    let (mut is_printing, mut is_finding) = (false, false);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || {
            args.next()
                .and_then(|number| number.parse().ok())
                .expect("a number")
        };
        match arg.as_str() {
            "--histories" => histories = number(),
            "--seed" => seed = number(),
            "--mutant" => mutant = args.next(),
            "--print" => is_printing = true,
            "--each" => is_finding = true,
            _ => {
                eprintln!(
                    "--histories N, --seed N, --print, --each, --mutant one of {}",
                    simulate::mutants().join(", ")
                );
                return ExitCode::FAILURE;
            }
        }
    }
    if is_finding {
        return find_each(seed, histories);
    }
    let mutant = mutant.as_deref();
    if is_printing {
        println!("{:?}", simulate::history_printed(seed, mutant));
        return ExitCode::SUCCESS;
    }
    let began = Instant::now();
    let (next, broken) = (AtomicU64::new(seed), AtomicU64::new(0));
    let work = || {
        let mut counts = Counts::default();
        loop {
            let of = next.fetch_add(1, Ordering::Relaxed);
            if of >= seed + histories || mutant.is_some() && broken.load(Ordering::Relaxed) > 0 {
                return counts;
            }
            match simulate::history(of, mutant) {
                Ok(of_it) => counts.add(&of_it),
                Err(why) => {
                    if broken.fetch_add(1, Ordering::Relaxed) < 10 {
                        println!("{why}");
                    }
                }
            }
        }
    };
    let mut counts = Counts::default();
    thread::scope(|scope| {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            counts.add(&worker.join().expect("a history has panicked"));
        }
    });
    let (seconds, broken) = (began.elapsed().as_secs_f64(), broken.into_inner());
    println!("{counts:#?}");
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    let rate = counts.histories as f64 / seconds;
    println!(
        "{} histories in {seconds:.1} s ({rate:.0} a second), {broken} broken",
        counts.histories
    );
    if broken > 0 {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// Injects each bug, until it is found.
fn find_each(seed: u64, histories: u64) -> ExitCode {
    let mut all_are_found = true;
    for mutant in simulate::mutants() {
        let found = (0..histories).find_map(|count| {
            Some((
                count + 1,
                simulate::history(seed + count, Some(&mutant)).err()?,
            ))
        });
        if let Some((count, broken)) = found {
            println!("{mutant}: in history {count}: {}", broken.why);
        } else {
            all_are_found = false;
            println!("{mutant}: NOT FOUND in {histories} histories");
        }
    }
    if all_are_found {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
