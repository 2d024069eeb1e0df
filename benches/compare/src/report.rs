//! What was measured, as `results.json` and as a chart.

use std::fs;
use std::io;
use std::path::Path;

use crate::chart::{self, Bar, Panel};
use crate::json;
use crate::measure::{Row, Spread};
use crate::table::{BARE, TOKIO, ratios, short};
use crate::workloads::Workload;
use crate::workloads::footprint::Footprint;

/// The chart shows one size of each workload: the largest up to this.
const CHARTED: usize = 100_000;

/// Collects rows until they are written.
#[derive(Default)]
pub(crate) struct Report {
    groups: Vec<Group>,
}

/// All systems at one workload of one size.
struct Group {
    workload: &'static str,
    title: &'static str,
    /// What the values are.
    unit: String,
    size: usize,
    entries: Vec<Entry>,
}

struct Entry {
    system: &'static str,
    value: Spread,
    to_bare: Option<Spread>,
    to_tokio: Option<Spread>,
    allocations: Option<f64>,
}

impl Report {
    /// Takes what was counted right; the table shows the rest.
    pub(crate) fn rows(&mut self, workload: &dyn Workload, size: usize, rows: &[Row]) {
        let right = || rows.iter().filter(|row| row.wrong.is_none());
        let named = |name| right().find(|row| row.system == name);
        let over = |row: &Row, base: Option<&Row>| base.map(|base| ratios(&row.ns, &base.ns));
        let entry = |row: &Row| Entry {
            system: row.system,
            value: Spread::of(row.ns.iter().copied()),
            to_bare: over(row, named(BARE)),
            to_tokio: over(row, named(TOKIO)),
            allocations: row.allocations,
        };
        self.groups.push(Group {
            workload: workload.id(),
            title: workload.title(),
            unit: format!("ns per {}", workload.item()),
            size,
            entries: right().map(entry).collect(),
        });
    }

    /// Takes the resident bytes of W6: those that everyone can be asked for.
    pub(crate) fn footprints(&mut self, size: usize, rows: &[(&'static str, Footprint)]) {
        let exactly = |value: f64| Spread {
            p10: value,
            median: value,
            p90: value,
        };
        let base = |name| rows.iter().find(|row| row.0 == name).map(|row| row.1);
        let over = |own: Footprint, base: Option<Footprint>| {
            base.map(|base| exactly(own.resident / base.resident))
        };
        let entry = |&(system, own): &(&'static str, Footprint)| Entry {
            system,
            value: exactly(own.resident),
            to_bare: over(own, base(BARE)),
            to_tokio: over(own, base(TOKIO)),
            allocations: None,
        };
        self.groups.push(Group {
            workload: "W6",
            title: "Memory of a parked coroutine",
            unit: String::from("resident bytes"),
            size,
            entries: rows
                .iter()
                .filter(|row| row.1.resident.is_finite())
                .map(entry)
                .collect(),
        });
    }

    /// Writes both files into `directory`, which is made if need be.
    pub(crate) fn write(&self, directory: &Path) -> io::Result<()> {
        fs::create_dir_all(directory)?;
        fs::write(directory.join("results.json"), self.json())?;
        fs::write(directory.join("chart.svg"), chart::svg(&self.panels()))
    }

    fn json(&self) -> String {
        let entries = |group: &Group| -> Vec<String> {
            let entry = |entry: &Entry| {
                format!(
                    "{{\"workload\": \"{}\", \"size\": {}, \"system\": \"{}\", \"unit\": \"{}\", \
                     \"value\": {}, \"to_bare\": {}, \"to_tokio\": {}, \"allocations\": {}}}",
                    group.workload,
                    group.size,
                    entry.system,
                    group.unit,
                    json::spread(Some(entry.value)),
                    json::spread(entry.to_bare),
                    json::spread(entry.to_tokio),
                    json::number(entry.allocations, 4),
                )
            };
            group.entries.iter().map(entry).collect()
        };
        json::document(self.groups.iter().flat_map(entries))
    }

    fn panels(&self) -> Vec<Panel> {
        let charted = |group: &&Group| {
            let sizes = self
                .groups
                .iter()
                .filter(|other| other.workload == group.workload)
                .map(|other| other.size);
            let best = sizes.clone().filter(|&size| size <= CHARTED).max();
            best.or(sizes.min()) == Some(group.size)
        };
        let panel = |group: &Group| Panel {
            title: group.title,
            subtitle: format!(
                "{}, N = {}, {}",
                group.workload,
                short(group.size),
                group.unit
            ),
            bars: group
                .entries
                .iter()
                .map(|entry| Bar {
                    system: entry.system,
                    value: entry.value,
                })
                .collect(),
        };
        let drawn = self.groups.iter().filter(charted).map(panel);
        drawn.filter(|panel| !panel.bars.is_empty()).collect()
    }
}
