//! What `--scale` has measured, as `scale.json` and as a plot.

use std::fs;
use std::io;
use std::path::Path;

use crate::json;
use crate::measure::Spread;
use crate::plot::{self, Line, Panel};
use crate::workloads::footprint::Footprint;

/// All figures, by system, then by size.
pub(crate) struct Report(pub(super) Vec<Figures>);

/// What one system at one size costs; none of what it leaves out.
pub(crate) struct Figures {
    pub(super) system: &'static str,
    pub(super) size: usize,
    /// Nanoseconds for a frame.
    pub(super) awake: Option<Spread>,
    pub(super) aged: Option<Spread>,
    pub(super) asleep: Option<Spread>,
    pub(super) memory: Option<Footprint>,
    /// Nanoseconds for all of them.
    pub(super) dropping: Option<Spread>,
}

impl Figures {
    /// None measured yet.
    pub(super) fn none(system: &'static str, size: usize) -> Self {
        Self {
            system,
            size,
            awake: None,
            aged: None,
            asleep: None,
            memory: None,
            dropping: None,
        }
    }

    /// Whether the system does anything of what is measured.
    fn has_any(&self) -> bool {
        self.awake.is_some() || self.asleep.is_some()
    }

    fn json(&self) -> String {
        let micros = |ns: Option<Spread>| json::spread(ns.map(|ns| ns.over(1e3)));
        let millis = |ns: Option<Spread>| json::spread(ns.map(|ns| ns.over(1e6)));
        format!(
            "{{\"system\": \"{}\", \"size\": {}, \"awake_us\": {}, \"aged_us\": {}, \
             \"asleep_us\": {}, \"live_bytes\": {}, \"resident_bytes\": {}, \"drop_ms\": {}}}",
            self.system,
            self.size,
            micros(self.awake),
            micros(self.aged),
            micros(self.asleep),
            json::number(self.memory.map(|memory| memory.live), 3),
            json::number(self.memory.map(|memory| memory.resident), 3),
            millis(self.dropping),
        )
    }
}

impl Report {
    /// Writes both files into `directory`, which is made if need be.
    pub(crate) fn write(&self, directory: &Path) -> io::Result<()> {
        fs::create_dir_all(directory)?;
        let measured = self.0.iter().filter(|figures| figures.has_any());
        let json = json::document(measured.map(Figures::json));
        fs::write(directory.join("scale.json"), json)?;
        fs::write(directory.join("scale.svg"), plot::svg(self.panels()))
    }

    fn panels(&self) -> [Panel; 2] {
        [
            Panel {
                title: "A frame with all awake",
                subtitle: "microseconds; all N coroutines resume",
                lines: self.lines(|figures| figures.awake),
            },
            Panel {
                title: "A frame with all asleep",
                subtitle: "microseconds; N coroutines wait, none is due",
                lines: self.lines(|figures| figures.asleep),
            },
        ]
    }

    fn lines(&self, ns: fn(&Figures) -> Option<Spread>) -> Vec<Line> {
        let of_one_system = |all: &[Figures]| {
            let point = |figures: &Figures| Some((figures.size, ns(figures)?.over(1e3)));
            let mut points: Vec<(usize, Spread)> = all.iter().filter_map(point).collect();
            points.sort_by_key(|point| point.0);
            let system = all.first()?.system;
            (!points.is_empty()).then_some(Line { system, points })
        };
        let by_system = self.0.chunk_by(|a, b| a.system == b.system);
        by_system.filter_map(of_one_system).collect()
    }
}
