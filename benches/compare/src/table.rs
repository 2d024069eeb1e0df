//! One row a system, as text or as comma-separated values.

use crate::measure::{Row, Spread};
use crate::workloads::footprint::Footprint;

pub(crate) const BARE: &str = "bare";
pub(crate) const TOKIO: &str = "tokio";

/// Prints rows as they come.
pub(crate) struct Table {
    csv: bool,
    headed: bool,
}

impl Table {
    pub(crate) fn new(csv: bool) -> Self {
        Self { csv, headed: false }
    }

    /// The rows of one workload of one size.
    pub(crate) fn rows(&mut self, workload: &str, item: &str, size: usize, rows: &[Row]) {
        self.head();
        let named = |name| rows.iter().find(|row| row.system == name);
        let (bare, tokio) = (named(BARE), named(TOKIO));
        for row in rows {
            if let Some((counted, expected)) = row.wrong {
                self.wrong(workload, size, row.system, counted, expected);
                continue;
            }
            let to_bare = bare.map(|bare| ratios(&row.ns, &bare.ns));
            let to_tokio = tokio.map(|tokio| ratios(&row.ns, &tokio.ns));
            let ns = Spread::of(row.ns.iter().copied()).median;
            if self.csv {
                println!(
                    "{workload},{size},{},{ns:.3},{},{},{}",
                    row.system,
                    csv(to_bare),
                    csv(to_tokio),
                    counted(row.allocations, 4)
                );
            } else {
                println!(
                    "{workload:<8}{:>5}  {:<18}{:>11}/{item:<7}{}{}{:>9}",
                    short(size),
                    row.system,
                    format!("{} ns", figure(ns)),
                    columns(to_bare),
                    columns(to_tokio),
                    counted(row.allocations, 2)
                );
            }
        }
        self.gap();
    }

    /// The rows of W6: live bytes, then resident ones.
    pub(crate) fn footprints(&mut self, size: usize, rows: &[(&'static str, Footprint)]) {
        if !self.csv {
            println!(
                "{:<8}{:>5}  {:<18}{:>12}{:>9}{:>10}{:>16}{:>9}{:>10}",
                "workload",
                "size",
                "system",
                "live bytes",
                "/ bare",
                "/ tokio",
                "resident",
                "/ bare",
                "/ tokio"
            );
        }
        let named = |name| rows.iter().find(|row| row.0 == name).map(|row| row.1);
        let (bare, tokio) = (named(BARE), named(TOKIO));
        for &(system, own) in rows {
            let over = |other: Option<Footprint>, part: fn(Footprint) -> f64| {
                known(other.map_or(f64::NAN, |other| part(own) / part(other)), 2)
            };
            let live: fn(Footprint) -> f64 = |footprint| footprint.live;
            let resident: fn(Footprint) -> f64 = |footprint| footprint.resident;
            if self.csv {
                println!("W6 live,{size},{system},{:.2},,,,,,,", own.live);
                println!("W6 resident,{size},{system},{:.2},,,,,,,", own.resident);
            } else {
                println!(
                    "{:<8}{:>5}  {system:<18}{:>12}{:>9}{:>10}{:>16}{:>9}{:>10}",
                    "W6",
                    short(size),
                    known(own.live, 1),
                    over(bare, live),
                    over(tokio, live),
                    known(own.resident, 1),
                    over(bare, resident),
                    over(tokio, resident),
                );
            }
        }
        self.gap();
    }

    fn head(&mut self) {
        if self.headed {
            return;
        }
        self.headed = true;
        if self.csv {
            println!(
                "workload,size,system,ns,bare,bare_p10,bare_p90,tokio,tokio_p10,tokio_p90,allocations"
            );
        } else {
            println!(
                "{:<8}{:>5}  {:<18}{:>11} {:<7}{:>9}{:^17}{:>9}{:^17}{:>9}",
                "workload",
                "size",
                "system",
                "median",
                "per",
                "/ bare",
                "p10-p90",
                "/ tokio",
                "p10-p90",
                "allocs"
            );
        }
    }

    fn wrong(&self, workload: &str, size: usize, system: &str, counted: u64, expected: u64) {
        if self.csv {
            println!("{workload},{size},{system},WRONG,,,,,,,");
        } else {
            let size = short(size);
            println!(
                "{workload:<8}{size:>5}  {system:<18}WRONG: {counted} resumes, not {expected}"
            );
        }
    }

    fn gap(&self) {
        if !self.csv {
            println!();
        }
    }
}

pub(crate) fn ratios(own: &[f64], base: &[f64]) -> Spread {
    Spread::of(own.iter().zip(base).map(|(own, base)| own / base))
}

fn columns(ratio: Option<Spread>) -> String {
    match ratio {
        Some(Spread { p10, median, p90 }) => format!(
            "{:>9}{:^17}",
            figure(median),
            format!("{}-{}", figure(p10), figure(p90))
        ),
        None => format!("{:>9}{:^17}", "-", ""),
    }
}

fn csv(ratio: Option<Spread>) -> String {
    match ratio {
        Some(Spread { p10, median, p90 }) => format!("{median:.5},{p10:.5},{p90:.5}"),
        None => String::from(",,"),
    }
}

fn counted(allocations: Option<f64>, digits: usize) -> String {
    allocations.map_or(String::from("-"), |calls| format!("{calls:.digits$}"))
}

/// A number, unless it could not be measured.
pub(crate) fn known(value: f64, digits: usize) -> String {
    if value.is_nan() {
        String::from("-")
    } else {
        format!("{value:.digits$}")
    }
}

/// Three digits that matter, and no more.
pub(crate) fn figure(value: f64) -> String {
    match value {
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v if v >= 0.1 || v == 0.0 => format!("{v:.2}"),
        v if v >= 0.001 => format!("{v:.4}"),
        v => format!("{v:.1e}"),
    }
}

pub(crate) fn short(size: usize) -> String {
    match size {
        n if n >= 1_000_000 && n % 1_000_000 == 0 => format!("{}M", n / 1_000_000),
        n if n >= 1_000 && n % 1_000 == 0 => format!("{}k", n / 1_000),
        n => n.to_string(),
    }
}
