//! The colours of both views.

use super::kind::Kind;
use super::warning::Level;

/// Red, green and blue.
pub(crate) type Rgb = [u8; 3];

/// The colours on a dark or a light background.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Palette {
    pub(crate) text: Rgb,
    /// Of less important text.
    pub(crate) weak: Rgb,
    pub(crate) ground: Rgb,
    /// Of every other line.
    pub(crate) stripe: Rgb,
    /// Of bars and buttons.
    pub(crate) raised: Rgb,
    pub(crate) selected: Rgb,
    pub(crate) line: Rgb,
    /// Of polls.
    pub(crate) accent: Rgb,
    kinds: [Rgb; Kind::ALL.len()],
    levels: [Rgb; 3],
}

const DARK: Palette = Palette {
    text: [0xdf, 0xe3, 0xe8],
    weak: [0x8f, 0x99, 0xa6],
    ground: [0x16, 0x19, 0x1e],
    stripe: [0x1b, 0x1f, 0x25],
    raised: [0x24, 0x29, 0x31],
    selected: [0x2c, 0x3f, 0x5c],
    line: [0x33, 0x3a, 0x45],
    accent: [0x6c, 0xb6, 0xff],
    kinds: [
        [0x6c, 0xb6, 0xff],
        [0x57, 0xc7, 0x8b],
        [0xd6, 0xb0, 0x4c],
        [0xb3, 0x92, 0xf0],
        [0xf0, 0x88, 0x3e],
        [0x56, 0xc2, 0xc8],
        [0xe8, 0xee, 0xf5],
        [0x8f, 0x99, 0xa6],
        [0xff, 0x6b, 0x6b],
    ],
    levels: [[0xff, 0x6b, 0x6b], [0xf2, 0xb1, 0x4a], [0x8f, 0xb8, 0xd9]],
};

const LIGHT: Palette = Palette {
    text: [0x1d, 0x22, 0x29],
    weak: [0x5f, 0x69, 0x76],
    ground: [0xfb, 0xfc, 0xfd],
    stripe: [0xf3, 0xf5, 0xf8],
    raised: [0xe7, 0xeb, 0xf0],
    selected: [0xcf, 0xe2, 0xfb],
    line: [0xd0, 0xd7, 0xde],
    accent: [0x09, 0x5c, 0xc4],
    kinds: [
        [0x09, 0x5c, 0xc4],
        [0x12, 0x78, 0x46],
        [0x86, 0x5f, 0x00],
        [0x70, 0x42, 0xc0],
        [0xb0, 0x48, 0x00],
        [0x0a, 0x71, 0x7a],
        [0x1d, 0x22, 0x29],
        [0x5f, 0x69, 0x76],
        [0xc4, 0x1c, 0x2c],
    ],
    levels: [[0xc4, 0x1c, 0x2c], [0x93, 0x5a, 0x00], [0x2b, 0x61, 0x8c]],
};

impl Palette {
    pub(crate) fn new(is_dark: bool) -> &'static Self {
        if is_dark { &DARK } else { &LIGHT }
    }

    pub(crate) fn kind(&self, kind: Kind) -> Rgb {
        self.kinds[kind.index()]
    }

    pub(crate) fn level(&self, level: Level) -> Rgb {
        self.levels[level as usize]
    }

    /// A blend of a colour and the background.
    pub(crate) fn faded(&self, colour: Rgb, part: f32) -> Rgb {
        std::array::from_fn(|at| {
            let (from, to) = (f32::from(self.ground[at]), f32::from(colour[at]));
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "0 to 255"
            )]
            let mixed = (from + (to - from) * part).round() as u8;
            mixed
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{DARK, Kind, LIGHT, Level, Rgb};

    fn luminance(colour: Rgb) -> f64 {
        let linear = |part: u8| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 {
                part / 12.92
            } else {
                ((part + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * linear(colour[0]) + 0.7152 * linear(colour[1]) + 0.0722 * linear(colour[2])
    }

    fn contrast(a: Rgb, b: Rgb) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// The limit of WCAG AA for text.
    #[test]
    fn all_text_has_enough_contrast() {
        for palette in [DARK, LIGHT] {
            for ground in [palette.ground, palette.stripe] {
                for kind in Kind::ALL {
                    assert!(contrast(palette.kind(kind), ground) >= 4.5, "{kind:?}");
                }
                for level in [Level::Error, Level::Warning, Level::Note] {
                    assert!(contrast(palette.level(level), ground) >= 4.5, "{level:?}");
                }
                assert!(contrast(palette.text, ground) >= 7.0);
                assert!(contrast(palette.weak, ground) >= 4.5);
            }
        }
    }
}
