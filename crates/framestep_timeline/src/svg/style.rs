//! Colours and fonts, for a light and a dark background.

use std::fmt::Write as _;

use crate::record::WaitKind;

/// The colours of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Theme {
    /// Follows the reader's system (`prefers-color-scheme`).
    #[default]
    Auto,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

struct Palette {
    back: &'static str,
    panel: &'static str,
    stripe: &'static str,
    line: &'static str,
    ink: &'static str,
    soft: &'static str,
    faint: &'static str,
    life: &'static str,
    alarm: &'static str,
    /// The opacity of a bar's colour.
    strength: f64,
    /// By [`hue`].
    hues: [&'static str; 10],
}

const LIGHT: Palette = Palette {
    back: "#ffffff",
    panel: "#f5f7fa",
    stripe: "#eef1f6",
    line: "#d5dbe4",
    ink: "#1b2330",
    soft: "#556174",
    faint: "#8b96a8",
    life: "#cfd6e0",
    alarm: "#d22f3d",
    strength: 0.2,
    hues: [
        "#8494ab", "#2f7de1", "#0f9d8a", "#7c52e0", "#dd8a00", "#d9541e", "#d63a92", "#5f9b12",
        "#d22f3d", "#6b7789",
    ],
};

const DARK: Palette = Palette {
    back: "#0f141b",
    panel: "#171e28",
    stripe: "#1b232e",
    line: "#303b49",
    ink: "#eef2f7",
    soft: "#a7b3c4",
    faint: "#76839a",
    life: "#384454",
    alarm: "#ff6b74",
    strength: 0.3,
    hues: [
        "#7d8da6", "#5aa2ff", "#2fd0b8", "#a98bff", "#ffb93d", "#ff8a5b", "#ff79bd", "#a5d64c",
        "#ff6b74", "#8f9bb0",
    ],
};

/// The colour of a kind of wait.
pub(crate) fn hue(kind: WaitKind) -> usize {
    match kind {
        WaitKind::Frame | WaitKind::Run | WaitKind::Frames | WaitKind::Steps => 0,
        WaitKind::Timer => 1,
        WaitKind::Condition => 2,
        WaitKind::Join => 3,
        WaitKind::Signal => 4,
        WaitKind::Watch => 5,
        WaitKind::Permit => 6,
        WaitKind::Wake => 7,
        WaitKind::Never => 8,
        WaitKind::Other => 9,
    }
}

/// What a colour means.
pub(crate) const HUES: [&str; 10] = [
    "frames and steps",
    "timer",
    "condition",
    "join",
    "signal",
    "watch",
    "permit",
    "wake",
    "never resumes",
    "another wait",
];

pub(crate) const ARROW_JOIN: usize = 3;
pub(crate) const ARROW_SIGNAL: usize = 4;
pub(crate) const ARROW_WAKE: usize = 7;
pub(crate) const ARROW_SPAWN: usize = 9;

/// The style sheet of a picture.
pub(crate) fn sheet(theme: Theme) -> String {
    let mut sheet = String::from(SHAPES);
    match theme {
        Theme::Light => rules(&mut sheet, &LIGHT),
        Theme::Dark => rules(&mut sheet, &DARK),
        Theme::Auto => {
            rules(&mut sheet, &LIGHT);
            sheet.push_str("@media (prefers-color-scheme: dark) {\n");
            rules(&mut sheet, &DARK);
            sheet.push_str("}\n");
        }
    }
    sheet
}

const SHAPES: &str = "\
text { font-family: Inter, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'Noto Sans', 'DejaVu Sans', sans-serif; }
.t1 { font-size: 20px; font-weight: 600; }
.t2 { font-size: 12.5px; }
.t3 { font-size: 13px; }
.t4 { font-size: 11px; }
.t5 { font-size: 12px; font-weight: 600; letter-spacing: .02em; }
.mid { text-anchor: middle; }
.end { text-anchor: end; }
.bar { stroke-width: 1; stroke-opacity: .8; }
.arrow { fill: none; stroke-width: 1.4; stroke-opacity: .6; }
.hit { fill: none; pointer-events: all; }
.hollow { stroke-width: 1.4; }
.mark { stroke-width: 1.2; stroke-dasharray: 5 4; }
.bar.endless { stroke-width: 1.8; stroke-opacity: 1; }
.bar.odd { stroke-width: 1.8; stroke-opacity: 1; stroke-dasharray: 5 3; }
.spawn { stroke-dasharray: 2 3; stroke-opacity: .7; }
.letter { font-size: 8.5px; font-weight: 700; text-anchor: middle; }
.end-x { fill: none; stroke-width: 2.2; stroke-linecap: round; }
.stop { stroke-width: 1.6; }
.grid { stroke-width: 1; }
";

fn rules(sheet: &mut String, palette: &Palette) {
    let Palette {
        back,
        panel,
        stripe,
        line,
        ink,
        soft,
        faint,
        life,
        alarm,
        hues,
        ..
    } = palette;
    let _ = write!(
        sheet,
        "\
.back {{ fill: {back}; }}
.panel {{ fill: {panel}; }}
.stripe {{ fill: {stripe}; }}
.grid {{ stroke: {line}; }}
.ink {{ fill: {ink}; }}
.soft {{ fill: {soft}; }}
.faint {{ fill: {faint}; }}
.life {{ fill: {life}; }}
.alarm {{ fill: {alarm}; }}
.letter {{ fill: {back}; }}
.poll {{ fill: {ink}; stroke: {panel}; stroke-width: 1.2; }}
.tick {{ fill: {ink}; }}
.slow {{ fill: {alarm}; }}
.end-x {{ stroke: {alarm}; }}
.stop {{ stroke: {ink}; fill: {panel}; }}
.mark {{ stroke: {soft}; }}
.pause {{ fill: url(#pause); fill-opacity: .6; }}
.pause-line {{ stroke: {soft}; stroke-width: 2.4; }}
.heat {{ fill: {}; }}
",
        hues[1]
    );
    for (number, hue) in hues.iter().enumerate() {
        let pale = blend(panel, hue, palette.strength);
        let _ = writeln!(sheet, ".h{number} {{ fill: {hue}; stroke: {hue}; }}");
        let _ = writeln!(sheet, ".bar.h{number} {{ fill: {pale}; }}");
        let _ = writeln!(sheet, ".s{number} {{ stroke: {hue}; }}");
        let _ = writeln!(sheet, ".f{number} {{ fill: {hue}; }}");
    }
    let tint = blend(panel, alarm, palette.strength);
    let _ = writeln!(sheet, ".bar.endless {{ stroke: {alarm}; fill: {tint}; }}");
    let _ = writeln!(sheet, ".hollow {{ fill: {panel}; stroke: {}; }}", hues[4]);
}

/// A colour between two others, written as `#rrggbb`.
fn blend(ground: &str, colour: &str, share: f64) -> String {
    let part = |text: &str, at: usize| {
        let digits = text.get(at..at + 2).unwrap_or("00");
        f64::from(u8::from_str_radix(digits, 16).unwrap_or(0))
    };
    let mixed = [1, 3, 5].map(|at| part(ground, at) * (1.0 - share) + part(colour, at) * share);
    let [red, green, blue] = mixed.map(f64::round);
    format!("rgb({red},{green},{blue})")
}

#[cfg(test)]
mod tests {
    use super::blend;

    #[test]
    fn a_blend_is_between_two_colours() {
        assert_eq!(blend("#000000", "#ff8000", 0.5), "rgb(128,64,0)");
    }
}
