//! Bars on a logarithmic scale, drawn as SVG: a panel for each workload, in
//! two columns. It follows the reader's colour scheme, and brings its own
//! background for pages that do not.

use std::fmt::Write as _;

use crate::measure::Spread;
use crate::table::figure;

/// The system whose bars stand out.
const OURS: &str = "framestep";

const COLUMN: f64 = 430.0;
const MARGIN: f64 = 20.0;
const NAMES: f64 = 130.0;
const FIGURES: f64 = 52.0;
const BAR: f64 = 17.0;
const HEAD: f64 = 44.0;
const FOOT: f64 = 34.0;
const TOP: f64 = 48.0;

const STYLE: &str = "\
text { font: 12px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #1f2328 }
.title { font-weight: 600; font-size: 14px }
.quiet { fill: #59636e }
.tick { font-size: 10px; fill: #59636e }
.ours { font-weight: 600 }
.page { fill: #ffffff }
.grid { stroke: #d1d9e0; stroke-width: 1 }
.bar { fill: #a9b4c0 }
.bar.ours { fill: #1a7f37 }
.spread { stroke: #59636e; stroke-width: 1.5 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.quiet, .tick { fill: #9198a1 }
.page { fill: #0d1117 }
.grid { stroke: #3d444d }
.bar { fill: #59636e }
.bar.ours { fill: #3fb950 }
.spread { stroke: #b7bdc8 }
}
";

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
        let left = MARGIN + column as f64 * (COLUMN + MARGIN);
        draw(&mut body, panel, left, ends[column]);
        ends[column] += panel.height();
    }
    let width = MARGIN * 3.0 + COLUMN * 2.0;
    let height = ends[0].max(ends[1]);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\">\n\
         <title>framestep and its peers</title>\n<style>{STYLE}</style>\n\
         <rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n\
         <text class=\"quiet\" x=\"{MARGIN}\" y=\"26\">Less is better. Logarithmic scale; \
         medians, with a line from the 10th to the 90th percentile.</text>\n{body}</svg>\n"
    )
}

impl Panel {
    fn height(&self) -> f64 {
        HEAD + BAR * self.bars.len() as f64 + FOOT
    }
}

/// Where values are on the axis: from one power of ten to another.
struct Axis {
    low: i32,
    high: i32,
    left: f64,
    width: f64,
}

impl Axis {
    fn of(bars: &[Bar], left: f64) -> Self {
        let values = || bars.iter().map(|bar| bar.value.median.log10());
        let low = values().fold(f64::INFINITY, f64::min);
        let high = values().fold(f64::NEG_INFINITY, f64::max);
        // The shortest bar still has a length.
        let low = (low - 0.1).floor() as i32;
        Self {
            low,
            high: (high.ceil() as i32).max(low + 1),
            left: left + NAMES,
            width: COLUMN - NAMES - FIGURES,
        }
    }

    fn x(&self, value: f64) -> f64 {
        let share = (value.log10() - f64::from(self.low)) / f64::from(self.high - self.low);
        self.left + self.width * share.clamp(0.0, 1.0)
    }
}

fn draw(body: &mut String, panel: &Panel, left: f64, top: f64) {
    let mut put = |what: std::fmt::Arguments<'_>| {
        body.write_fmt(what).expect("a String takes all");
    };
    put(format_args!(
        "<text class=\"title\" x=\"{left}\" y=\"{:.0}\">{}</text>\n\
         <text class=\"quiet\" x=\"{left}\" y=\"{:.0}\">{}</text>\n",
        top + 14.0,
        panel.title,
        top + 31.0,
        panel.subtitle
    ));
    let axis = Axis::of(&panel.bars, left);
    let first = top + HEAD;
    let last = first + BAR * panel.bars.len() as f64;
    for power in axis.low..=axis.high {
        let value = 10_f64.powi(power);
        put(format_args!(
            "<line class=\"grid\" x1=\"{x:.1}\" y1=\"{first:.0}\" x2=\"{x:.1}\" y2=\"{last:.0}\"/>\n\
             <text class=\"tick\" x=\"{x:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{}</text>\n",
            last + 13.0,
            decade(power),
            x = axis.x(value),
        ));
    }
    let mut bars: Vec<&Bar> = panel.bars.iter().collect();
    bars.sort_by(|a, b| a.value.median.total_cmp(&b.value.median));
    for (place, bar) in bars.into_iter().enumerate() {
        let ours = if bar.system == OURS { " ours" } else { "" };
        let y = first + BAR * place as f64;
        let end = axis.x(bar.value.median);
        put(format_args!(
            "<text class=\"name{ours}\" x=\"{:.0}\" y=\"{base:.1}\" text-anchor=\"end\">{}</text>\n\
             <rect class=\"bar{ours}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"2\"/>\n",
            axis.left - 6.0,
            bar.system,
            axis.left,
            y + 2.0,
            end - axis.left,
            BAR - 4.0,
            base = y + 12.5,
        ));
        let (low, high) = (axis.x(bar.value.p10), axis.x(bar.value.p90));
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
            grouped(&figure(bar.value.median)),
        ));
    }
}

/// A power of ten, short.
fn decade(power: i32) -> String {
    match power {
        ..0 => figure(10_f64.powi(power)).trim_end_matches('0').to_owned(),
        0..3 => format!("{}", 10_u64.pow(power as u32)),
        3..6 => format!("{}k", 10_u64.pow(power as u32 - 3)),
        6..9 => format!("{}M", 10_u64.pow(power as u32 - 6)),
        _ => format!("1e{power}"),
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
