//! Lines over sizes, both axes logarithmic: two panels, side by side.

use std::fmt;

use crate::axis::{Axis, range};
use crate::measure::Spread;
use crate::page::{self, COLUMN, OURS, Style, TOP, put};

const TICKS: f64 = 40.0;
const NAMES: f64 = 132.0;
const HEAD: f64 = 48.0;
const HEIGHT: f64 = 320.0;
const FOOT: f64 = 48.0;

/// From the end of a line to the name of its system.
const LEADER: f64 = 18.0;
/// From one name to the next.
const NAME: f64 = 15.0;

const STYLE: Style = Style {
    light: "\
.line { fill: none; stroke: #8c96a1; stroke-width: 1.5; stroke-linejoin: round }
.line.ours { stroke: #1a7f37; stroke-width: 3 }
.leader { fill: none; stroke: #a9b4c0; stroke-width: 1 }
.marker { fill: #8c96a1; stroke: #ffffff; stroke-width: 1 }
.marker.ours { fill: #1a7f37 }
",
    dark: "\
.line { stroke: #768390 }
.line.ours { stroke: #3fb950 }
.leader { stroke: #59636e }
.marker { fill: #768390; stroke: #0d1117 }
.marker.ours { fill: #3fb950 }
",
};

const NOTE: &str = "Less is better. Logarithmic scales; medians, with a line from the 10th to the \
                    90th percentile. What does not grow with N is flat.";

/// One question, put to all systems.
pub(crate) struct Panel {
    pub(crate) title: &'static str,
    pub(crate) subtitle: &'static str,
    pub(crate) lines: Vec<Line>,
}

/// The answers of one system, by ascending size. There is at least one.
pub(crate) struct Line {
    pub(crate) system: &'static str,
    pub(crate) points: Vec<(usize, Spread)>,
}

impl Line {
    fn last(&self) -> (usize, Spread) {
        *self.points.last().expect("at least one point")
    }
}

/// Draws the panels.
pub(crate) fn svg(panels: [Panel; 2]) -> String {
    let mut body = String::new();
    for (column, panel) in panels.into_iter().enumerate() {
        if !panel.lines.is_empty() {
            draw(&mut body, panel, page::left_of(column));
        }
    }
    page::svg(&STYLE, NOTE, &body, TOP + HEAD + HEIGHT + FOOT)
}

fn draw(body: &mut String, mut panel: Panel, left: f64) {
    page::put_head(body, panel.title, panel.subtitle, left, TOP);
    let top = TOP + HEAD;
    let bottom = top + HEIGHT;
    let right = left + COLUMN - NAMES;
    let points = || panel.lines.iter().flat_map(|line| &line.points);
    let sizes = range(points().map(|point| point.0 as f64));
    let across = Axis::over(sizes, left + TICKS, right);
    let up = Axis::over(range(points().map(|point| point.1.median)), bottom, top);
    put_grid(body, &across, &up);

    // Names in the order in which their lines end, downwards; ours is drawn
    // last, above all it crosses.
    let end = |line: &Line| up.at(line.last().1.median);
    panel.lines.sort_by(|a, b| end(a).total_cmp(&end(b)));
    let ends: Vec<f64> = panel.lines.iter().map(end).collect();
    let heights = apart(&ends, NAME, top, bottom);
    let mut named: Vec<(&Line, f64)> = panel.lines.iter().zip(heights).collect();
    named.sort_by_key(|(line, _)| line.system.starts_with(OURS));
    for (line, name) in named {
        put_line(body, line, name, &across, &up);
    }
}

fn put_grid(body: &mut String, across: &Axis, up: &Axis) {
    let mut put = |what: fmt::Arguments<'_>| put(body, what);
    let (left, right) = across.ends();
    let (bottom, top) = up.ends();
    for (tick, x) in across.ticks() {
        put(format_args!(
            "<line class=\"grid\" x1=\"{x:.1}\" y1=\"{top:.0}\" x2=\"{x:.1}\" y2=\"{bottom:.0}\"/>\n\
             <text class=\"tick\" x=\"{x:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{tick}</text>\n",
            bottom + 15.0,
        ));
    }
    for (tick, y) in up.ticks() {
        put(format_args!(
            "<line class=\"grid\" x1=\"{left:.0}\" y1=\"{y:.1}\" x2=\"{right:.0}\" y2=\"{y:.1}\"/>\n\
             <text class=\"tick\" x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{tick}</text>\n",
            left - 6.0,
            y + 3.5,
        ));
    }
    put(format_args!(
        "<text class=\"tick\" x=\"{:.1}\" y=\"{:.0}\" text-anchor=\"middle\">N coroutines</text>\n",
        f64::midpoint(left, right),
        bottom + 31.0,
    ));
}

/// A line, its markers, and its name at the height `name`.
fn put_line(body: &mut String, line: &Line, name: f64, across: &Axis, up: &Axis) {
    let mut put = |what: fmt::Arguments<'_>| put(body, what);
    let (ours, radius) = if line.system.starts_with(OURS) {
        (" ours", 4.5)
    } else {
        ("", 3.5)
    };
    let at = |&(size, value): &(usize, Spread)| (across.at(size as f64), up.at(value.median));
    let corners = line.points.iter().map(at);
    let corners: Vec<String> = corners.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    put(format_args!(
        "<polyline class=\"line{ours}\" points=\"{}\"/>\n",
        corners.join(" ")
    ));
    for point in &line.points {
        let (x, y) = at(point);
        let (low, high) = (up.at(point.1.p10), up.at(point.1.p90));
        // A shorter one is hidden by the marker.
        if low - high > 2.0 * radius {
            put(format_args!(
                "<line class=\"spread\" x1=\"{x:.1}\" y1=\"{low:.1}\" x2=\"{x:.1}\" y2=\"{high:.1}\"/>\n"
            ));
        }
        put(format_args!(
            "<circle class=\"marker{ours}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"/>\n"
        ));
    }
    let (x, y) = at(&line.last());
    let (from, to) = (x + radius + 1.0, across.ends().1 + LEADER);
    put(format_args!(
        "<path class=\"leader\" d=\"M{from:.1},{y:.1} L{to:.1},{name:.1}\"/>\n\
         <text class=\"name{ours}\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\n",
        to + 4.0,
        name + 4.0,
        line.system,
    ));
}

/// Places at least `gap` apart, as near as can be to the `wanted` ones, which
/// ascend, and between `first` and `last` as far as there is room.
fn apart(wanted: &[f64], gap: f64, first: f64, last: f64) -> Vec<f64> {
    // With the gaps taken out, places may coincide but must not descend: where
    // they do, neighbours meet at their mean.
    let mut groups: Vec<(f64, usize)> = Vec::new();
    for (place, wanted) in wanted.iter().enumerate() {
        let mut group = (wanted - gap * place as f64, 1);
        while let Some(&above) = groups.last().filter(|above| above.0 > group.0) {
            groups.pop();
            let count = above.1 + group.1;
            let sum = above.0 * above.1 as f64 + group.0 * group.1 as f64;
            group = (sum / count as f64, count);
        }
        groups.push(group);
    }
    let last = (last - gap * (wanted.len() - 1) as f64).max(first);
    let places = groups
        .into_iter()
        .flat_map(|(place, count)| std::iter::repeat_n(place.clamp(first, last), count));
    let with_gaps = |(index, place): (usize, f64)| place + gap * index as f64;
    places.enumerate().map(with_gaps).collect()
}
