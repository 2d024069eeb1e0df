//! What a drawing is put on: an SVG file that follows the reader's colour
//! scheme, and brings its own background for pages that do not.

use std::fmt;

/// The system that stands out. Names of its other rows begin with it.
pub(crate) const OURS: &str = "framestep";

/// Between panels, and around them.
pub(crate) const MARGIN: f64 = 20.0;
/// The width of a panel; a page has two side by side.
pub(crate) const COLUMN: f64 = 430.0;
/// Where panels begin, below the line of text at the top.
pub(crate) const TOP: f64 = 48.0;

const LIGHT: &str = "\
text { font: 12px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #1f2328 }
.title { font-weight: 600; font-size: 14px }
.quiet { fill: #59636e }
.tick { font-size: 10px; fill: #59636e }
.ours { font-weight: 600 }
.page { fill: #ffffff }
.grid { stroke: #d1d9e0; stroke-width: 1 }
.spread { stroke: #59636e; stroke-width: 1.5 }
";

const DARK: &str = "\
text { fill: #e6edf3 }
.quiet, .tick { fill: #9198a1 }
.page { fill: #0d1117 }
.grid { stroke: #3d444d }
.spread { stroke: #b7bdc8 }
";

/// The rules for what is drawn on a page, in either colour scheme.
pub(crate) struct Style {
    pub(crate) light: &'static str,
    pub(crate) dark: &'static str,
}

/// The left edge of a column.
pub(crate) fn left_of(column: usize) -> f64 {
    MARGIN + column as f64 * (COLUMN + MARGIN)
}

/// Adds to a drawing.
pub(crate) fn put(body: &mut String, what: fmt::Arguments<'_>) {
    fmt::Write::write_fmt(body, what).expect("a String takes all");
}

/// The two lines above a panel.
pub(crate) fn put_head(body: &mut String, title: &str, subtitle: &str, left: f64, top: f64) {
    put(
        body,
        format_args!(
            "<text class=\"title\" x=\"{left}\" y=\"{:.0}\">{title}</text>\n\
             <text class=\"quiet\" x=\"{left}\" y=\"{:.0}\">{subtitle}</text>\n",
            top + 14.0,
            top + 31.0,
        ),
    );
}

/// The whole file: `body` below the line `note`.
pub(crate) fn svg(style: &Style, note: &str, body: &str, height: f64) -> String {
    let width = left_of(2);
    let Style { light, dark } = style;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\">\n\
         <title>framestep and its peers</title>\n\
         <style>{LIGHT}{light}@media (prefers-color-scheme: dark) {{\n{DARK}{dark}}}\n</style>\n\
         <rect class=\"page\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n\
         <text class=\"quiet\" x=\"{MARGIN}\" y=\"26\">{note}</text>\n{body}</svg>\n"
    )
}
