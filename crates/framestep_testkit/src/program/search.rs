//! The search for programs that show something, from seed to seed, on all cores.

use std::fmt::Write as _;

use super::trace::Event;

/// Counts of what was compared.
#[derive(Default)]
pub struct Found {
    pub programs: u64,
    /// Lines of traces.
    pub lines: u64,
    pub differences: Vec<String>,
}

/// The scope of a comparison.
#[derive(Clone, Debug)]
pub struct Search {
    pub first: u64,
    pub programs: u64,
    pub lines: u64,
    /// How many differences to find.
    pub most: usize,
    /// Features that programs do not have.
    pub without: Vec<String>,
    pub is_long: bool,
}

fn text(proof: &str, name: &str) -> Option<String> {
    std::env::var(format!("FRAMESTEP_{proof}_{name}")).ok()
}

impl Search {
    /// What the environment asks for, or else so many programs.
    ///
    /// With the name of the proof in the place of `NAME`: `FRAMESTEP_NAME_PROGRAMS=100000` and
    /// `FRAMESTEP_NAME_OPERATIONS=100000000` run that many programs, or until that many lines
    /// have been compared. `FRAMESTEP_NAME_SEED=7` begins at another seed; on its own, it runs
    /// only that seed. `FRAMESTEP_NAME_WITHOUT=pauses,moves` excludes features of programs, and
    /// `FRAMESTEP_NAME_DIFFERENCES=5` continues until five programs differ.
    pub fn of(proof: &str, ordinary: u64) -> Self {
        let number = |name: &str| {
            let value = text(proof, name)?;
            let number = value.parse();
            let number: u64 = number.unwrap_or_else(|_| panic!("{name} is a number"));
            Some(number)
        };
        let (seed, programs, lines) = (number("SEED"), number("PROGRAMS"), number("OPERATIONS"));
        let without = text(proof, "WITHOUT").unwrap_or_default();
        let most = number("DIFFERENCES").unwrap_or(1);
        Search {
            first: seed.unwrap_or(0),
            programs: programs.unwrap_or(match (lines, seed) {
                (Some(_), _) => u64::MAX,
                (None, Some(_)) => 1,
                (None, None) => ordinary,
            }),
            lines: lines.unwrap_or(u64::MAX),
            most: usize::try_from(most).expect("it is small"),
            without: without.split(',').map(str::to_owned).collect(),
            is_long: programs.or(lines).is_some(),
        }
    }

    /// Compares programs. `compare` gets a seed, and returns how many lines it has compared, and
    /// the differences.
    pub fn run(&self, compare: impl Fn(u64) -> (u64, Vec<String>) + Sync) -> Found {
        if self.is_long {
            // Many programs panic on purpose, and no other test runs at the same time.
            std::panic::set_hook(Box::new(|_| ()));
        }
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
        let core = |core: u64| {
            let mut found = Found::default();
            let seeds = self.first..self.first.saturating_add(self.programs);
            for seed in seeds
                .skip(core.try_into().expect("small"))
                .step_by(cores.try_into().expect("small"))
            {
                if found.lines >= self.lines.div_ceil(cores) || found.differences.len() >= self.most
                {
                    break;
                }
                let (lines, differences) = compare(seed);
                found.programs += 1;
                found.lines += lines;
                found.differences.extend(differences);
            }
            found
        };
        let all = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..cores).map(|at| scope.spawn(move || core(at))).collect();
            let mut all = Found::default();
            for thread in threads {
                let found = thread.join().expect("it catches what programs panic with");
                all.programs += found.programs;
                all.lines += found.lines;
                all.differences.extend(found.differences);
            }
            all
        });
        if self.is_long {
            drop(std::panic::take_hook());
        }
        let (programs, lines) = (all.programs, all.lines);
        println!(
            "{lines} lines of {programs} programs from seed {} on",
            self.first
        );
        all
    }
}

/// Two traces around the first difference, if there is one.
pub fn difference(titles: [&str; 2], expected: &[Event], actual: &[Event]) -> String {
    let pairs = expected.iter().zip(actual);
    let same = pairs
        .take_while(|(expected, actual)| expected == actual)
        .count();
    let line = |events: &[Event], at: usize| {
        let event = events.get(at);
        event.map_or_else(String::new, ToString::to_string)
    };
    let mut text = format!("  {:60} | {}\n", titles[0], titles[1]);
    for at in same.saturating_sub(24)..(same + 10).min(expected.len().max(actual.len())) {
        let (left, right) = (line(expected, at), line(actual, at));
        let mark = if left == right { ' ' } else { '!' };
        let _ = writeln!(text, "{mark} {left:60} | {right}");
    }
    text
}
