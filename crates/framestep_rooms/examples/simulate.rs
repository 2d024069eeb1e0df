//! Runs histories of the protocol, with all kinds of trouble: `--histories 100000 --seed 1`. `--mutant
//! NAME` injects a bug, which must be found; `--print` prints the history of the seed.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use framestep_rooms::simulate::{self, Counts};

fn main() -> ExitCode {
    let (mut histories, mut seed, mut mutant, mut is_printing) = (10_000_u64, 1_u64, None, false);
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
            _ => {
                eprintln!(
                    "--histories N, --seed N, --print, --mutant one of {}",
                    simulate::mutants().join(", ")
                );
                return ExitCode::FAILURE;
            }
        }
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
