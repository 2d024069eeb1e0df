//! Bars on a logarithmic scale: a panel for each workload, in two columns.

use std::fmt;

use crate::axis::{Axis, range};
use crate::measure::Spread;
use crate::page::{self, COLUMN, OURS, Style, TOP, put};
use crate::table::figure;

const NAMES: f64 = 130.0;
const FIGURES: f64 = 52.0;
const BAR: f64 = 17.0;
const HEAD: f64 = 44.0;
const FOOT: f64 = 34.0;

const STYLE: Style = Style {
    light: "\
.bar { fill: #a9b4c0 }
.bar.ours { fill: #1a7f37 }
",
    dark: "\
.bar { fill: #59636e }
.bar.ours { fill: #3fb950 }
",
};

const NOTE: &str = "Less is better. Logarithmic scale; \
                    medians, with a line from the 10th to the 90th percentile.";

/// One workload of one size.
pub(crate) struct Panel {
    pub(crate) title: &'static str,
    pub(crate) subtitle: String,
    pub(crate) bars: Vec<Bar>,
}

/// One system.
pub(crate) struct Bar {
    pub(crate) system: &'static str,
    pub(crate) value: Spread,
}

/// Draws the panels, each into the column that is shorter.
pub(crate) fn svg(panels: &[Panel]) -> String {
    let mut body = String::new();
    let mut ends = [TOP, TOP];
    for panel in panels {
        let column = usize::from(ends[1] < ends[0]);
        draw(&mut body, panel, page::left_of(column), ends[column]);
        ends[column] += panel.height();
    }
    page::svg(&STYLE, NOTE, &body, ends[0].max(ends[1]))
}

impl Panel {
    fn height(&self) -> f64 {
        HEAD + BAR * self.bars.len() as f64 + FOOT
    }
}

fn draw(body: &mut String, panel: &Panel, left: f64, top: f64) {
    page::put_head(body, panel.title, &panel.subtitle, left, top);
    let mut put = |what: fmt::Arguments<'_>| put(body, what);
    let start = left + NAMES;
    let (shortest, longest) = range(panel.bars.iter().map(|bar| bar.value.median));
    // Even the shortest bar has a length.
    let axis = Axis::over((shortest * 0.8, longest), start, left + COLUMN - FIGURES);
    let first = top + HEAD;
    let last = first + BAR * panel.bars.len() as f64;
    for (tick, x) in axis.ticks() {
        put(format_args!(
            "<line class=\"grid\" x1=\"{x:.1}\" y1=\"{first:.0}\" x2=\"{x:.1}\" y2=\"{last:.0}\"/>\n\
             <text class=\"tick\" x=\"{x:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{tick}</text>\n",
            last + 13.0,
        ));
    }
    let mut bars: Vec<&Bar> = panel.bars.iter().collect();
    bars.sort_by(|a, b| a.value.median.total_cmp(&b.value.median));
    for (place, bar) in bars.into_iter().enumerate() {
        let ours = if bar.system.starts_with(OURS) {
            " ours"
        } else {
            ""
        };
        let y = first + BAR * place as f64;
        let end = axis.at(bar.value.median);
        put(format_args!(
            "<text class=\"name{ours}\" x=\"{:.0}\" y=\"{base:.1}\" text-anchor=\"end\">{}</text>\n\
             <rect class=\"bar{ours}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"2\"/>\n",
            start - 6.0,
            bar.system,
            start,
            y + 2.0,
            end - start,
            BAR - 4.0,
            base = y + 12.5,
        ));
        let (low, high) = (axis.at(bar.value.p10), axis.at(bar.value.p90));
        if high - low > 1.0 {
            put(format_args!(
                "<line class=\"spread\" x1=\"{low:.1}\" y1=\"{y:.1}\" x2=\"{high:.1}\" y2=\"{y:.1}\"/>\n",
                y = y + BAR / 2.0,
            ));
        }
        put(format_args!(
            "<text class=\"value{ours}\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\n",
            end.max(high) + 5.0,
            y + 12.5,
            label(bar.value.median),
        ));
    }
}

/// Short, since bars may be long.
fn label(value: f64) -> String {
    if value >= 1e6 {
        format!("{}M", figure(value / 1e6))
    } else {
        grouped(&figure(value))
    }
}

/// Commas between the thousands.
fn grouped(figure: &str) -> String {
    if figure.len() < 4 || !figure.bytes().all(|byte| byte.is_ascii_digit()) {
        return figure.to_owned();
    }
    let mut text = String::new();
    for (place, digit) in figure.chars().enumerate() {
        if place > 0 && (figure.len() - place) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
