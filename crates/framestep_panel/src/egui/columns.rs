//! The positions of the columns.

use super::egui::Rect;

#[derive(Clone, Copy, Debug)]
pub(super) struct Columns {
    pub(super) name: f32,
    pub(super) wait: f32,
    pub(super) bar: f32,
    pub(super) place: f32,
    pub(super) polls: f32,
    pub(super) average: f32,
    pub(super) longest: f32,
    pub(super) strip: f32,
}

/// Between two columns.
pub(super) const GAP: f32 = 12.0;
/// Left and right of all columns.
const EDGE: f32 = 10.0;
/// The width of the scroll bar.
pub(super) const SCROLL: f32 = 12.0;

impl Columns {
    pub(super) fn new(width: f32) -> Self {
        let from = |least: f32, wide: f32| if width >= least { wide } else { 0.0 };
        let mut columns = Columns {
            name: 0.0,
            wait: 0.0,
            bar: from(520.0, 64.0),
            place: if width >= 1100.0 {
                170.0
            } else {
                from(560.0, 130.0)
            },
            polls: from(900.0, 50.0),
            average: from(820.0, 58.0),
            longest: from(900.0, 58.0),
            strip: if width < 420.0 {
                0.0
            } else {
                (width * 0.18).clamp(80.0, 360.0)
            },
        };
        let fixed = [
            columns.bar,
            columns.place,
            columns.polls,
            columns.average,
            columns.longest,
            columns.strip,
        ];
        let used: f32 = fixed
            .iter()
            .filter(|width| **width > 0.0)
            .map(|width| width + GAP)
            .sum();
        let rest = (width - used - GAP - 2.0 * EDGE - SCROLL).max(80.0);
        columns.name = (rest * 0.48).min(380.0);
        columns.wait = rest - columns.name;
        columns
    }

    /// The rectangles in a line, in the order of the fields.
    pub(super) fn rects(&self, line: Rect) -> [Rect; 8] {
        let widths = [
            self.name,
            self.wait,
            self.bar,
            self.place,
            self.polls,
            self.average,
            self.longest,
            self.strip,
        ];
        let mut x = line.left() + EDGE;
        widths.map(|width| {
            let rect = line.with_min_x(x).with_max_x(x + width);
            if width > 0.0 {
                x += width + GAP;
            }
            rect
        })
    }
}
