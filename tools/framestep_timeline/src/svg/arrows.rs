//! Arrows between lanes.

use crate::lanes::{Arrow, ArrowKind};

use super::scale::Scale;
use super::{Picture, style};

/// More arrows would hide what they point at.
const MOST: usize = 400;

/// The label, the colour and the class of a kind of arrow.
pub(super) fn look(kind: ArrowKind) -> (&'static str, usize, &'static str) {
    match kind {
        ArrowKind::Join => ("end of a joined script", style::ARROW_JOIN, "arrow s3"),
        ArrowKind::Signal => ("signal", style::ARROW_SIGNAL, "arrow s4"),
        ArrowKind::Wake => ("wake", style::ARROW_WAKE, "arrow s7"),
        ArrowKind::Spawn => ("starts", style::ARROW_SPAWN, "arrow spawn s9"),
    }
}

impl Picture<'_> {
    /// Draws the arrows between scripts that are shown. Returns how many are left out.
    pub(super) fn draw_arrows(&mut self, scale: &Scale<'_>) -> usize {
        let mut arrows: Vec<&Arrow> = self
            .lanes
            .arrows
            .iter()
            .filter(|arrow| self.is_drawn(arrow))
            .collect();
        let order = [
            ArrowKind::Join,
            ArrowKind::Signal,
            ArrowKind::Wake,
            ArrowKind::Spawn,
        ];
        arrows.sort_by_key(|arrow| order.iter().position(|kind| *kind == arrow.kind));
        let most = if scale.frame < 4.0 { MOST / 4 } else { MOST };
        for arrow in arrows.iter().take(most) {
            self.draw_arrow(scale, arrow);
        }
        arrows.len().saturating_sub(most)
    }

    pub(super) fn is_drawn(&self, arrow: &Arrow) -> bool {
        arrow.source != arrow.target
            && self.middles.contains_key(&arrow.source)
            && self.middles.contains_key(&arrow.target)
    }

    fn draw_arrow(&mut self, scale: &Scale<'_>, arrow: &Arrow) {
        let (y1, y2) = (self.middles[&arrow.source], self.middles[&arrow.target]);
        let (x1, x2) = (scale.x(arrow.from), scale.x(arrow.to));
        let way = if y2 > y1 { 1.0 } else { -1.0 };
        let gap = if scale.frame >= 22.0 {
            6.0
        } else {
            self.lane * 0.25
        };
        let (y1, y2) = (y1 + way * 4.0, y2 - way * gap);
        let bend = (y2 - y1) * 0.5;
        let (words, hue, class) = look(arrow.kind);
        let path = format!(
            "M{x1:.1} {y1:.1}C{x1:.1} {:.1} {x2:.1} {:.1} {x2:.1} {y2:.1}\" marker-end=\"url(#a{hue})",
            y1 + bend,
            y2 - bend,
        );
        let title = format!(
            "{words}: {} to {}\n{}",
            self.film.name_and_id(arrow.source),
            self.film.name_and_id(arrow.target),
            self.moment(arrow.to)
        );
        self.page.path(class, &path, &title);
    }
}
