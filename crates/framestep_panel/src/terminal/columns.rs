//! The widths of the columns.

/// The width of each column. Columns of width 0 are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) name: u16,
    pub(super) wait: u16,
    pub(super) bar: u16,
    pub(super) place: u16,
    pub(super) polls: u16,
    pub(super) average: u16,
    pub(super) longest: u16,
    pub(super) strip: u16,
}

impl Columns {
    /// Each column is followed by two blanks.
    pub(super) fn new(width: u16) -> Self {
        let mut columns = Columns {
            name: 0,
            wait: 0,
            bar: if width >= 70 { 8 } else { 0 },
            place: match width {
                0..76 => 0,
                76..130 => 17,
                _ => 24,
            },
            polls: if width >= 128 { 6 } else { 0 },
            average: if width >= 100 { 8 } else { 0 },
            longest: if width >= 128 { 8 } else { 0 },
            strip: match width {
                0..50 => 0,
                50..100 => width / 6,
                _ => (width / 6).min(60),
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
        let used: u16 = fixed
            .iter()
            .filter(|width| **width > 0)
            .map(|width| width + 2)
            .sum();
        let rest = width.saturating_sub(used + 2);
        columns.name = (rest / 2).min(44);
        columns.wait = rest - columns.name;
        columns
    }
}
