//! Arrows between lanes.

use std::collections::BTreeMap;

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

/// Leaves out arrows until there are `most`: of the most frequent kinds, and in the same measure
/// at all times.
fn thin(arrows: Vec<&Arrow>, most: usize) -> Vec<&Arrow> {
    let mut kinds: BTreeMap<ArrowKind, Vec<&Arrow>> = BTreeMap::new();
    for arrow in arrows {
        kinds.entry(arrow.kind).or_default().push(arrow);
    }
    let mut kinds: Vec<Vec<&Arrow>> = kinds.into_values().collect();
    kinds.sort_by_key(Vec::len);
    let (mut left, mut others) = (most, kinds.len());
    let mut kept = Vec::new();
    for kind in kinds {
        let share = (left / others).min(kind.len());
        let number = |at: usize| at * share / kind.len();
        let mut all = kind.iter().enumerate();
        let picked = all.by_ref().filter(|(at, _)| number(at + 1) > number(*at));
        kept.extend(picked.map(|(_, arrow)| *arrow));
        left -= share;
        others -= 1;
    }
    kept
}

impl Picture<'_> {
    /// Draws the arrows between scripts that are shown. Returns how many are left out.
    pub(super) fn draw_arrows(&mut self, scale: &Scale<'_>) -> usize {
        let arrows: Vec<&Arrow> = self
            .lanes
            .arrows
            .iter()
            .filter(|arrow| self.is_drawn(arrow))
            .collect();
        let most = if scale.frame < 4.0 { MOST / 4 } else { MOST };
        let all = arrows.len();
        let arrows = thin(arrows, most);
        for arrow in &arrows {
            self.draw_arrow(scale, arrow);
        }
        all - arrows.len()
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
        let class = format!("{class} l{} l{}", arrow.source, arrow.target);
        self.page.path(&class, &path, &title);
    }
}
