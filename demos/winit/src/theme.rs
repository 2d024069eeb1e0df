//! Colours, from dark to light.

use embedded_graphics::pixelcolor::Rgb888;
use embedded_graphics::prelude::*;

pub(crate) struct Theme {
    pub(crate) back: Rgb888,
    pub(crate) paper: Rgb888,
    pub(crate) ink: Rgb888,
    pub(crate) faint: Rgb888,
    pub(crate) line: Rgb888,
    pub(crate) accent: Rgb888,
    pub(crate) good: Rgb888,
    pub(crate) warm: Rgb888,
    pub(crate) bad: Rgb888,
}

impl Theme {
    /// `light` from 0 to 1. The backgrounds fade, and the foregrounds switch half way,
    /// so that they are always readable.
    pub(crate) fn at(light: f32) -> Self {
        let pair = |dark: u32, bright: u32| mix(colour(dark), colour(bright), light);
        let either = |dark: u32, bright: u32| colour(if light < 0.5 { dark } else { bright });
        let back = pair(0x16_1a_22, 0xe4_e6_ea);
        let ink = either(0xd8_de_e9, 0x22_28_33);
        Theme {
            back,
            paper: pair(0x1f_25_30, 0xfb_fa_f5),
            ink,
            faint: mix(back, ink, 0.55),
            line: pair(0x33_3c_4c, 0xc9_cd_d4),
            accent: pair(0x5c_9c_e6, 0x2a_6f_c0),
            good: pair(0x7f_c0_7a, 0x3c_8a_3a),
            warm: pair(0xe8_b4_5a, 0xb8_7a_14),
            bad: pair(0xe0_6c_75, 0xc0_34_40),
        }
    }
}

fn colour(hex: u32) -> Rgb888 {
    let [_, red, green, blue] = hex.to_be_bytes();
    Rgb888::new(red, green, blue)
}

/// `share` of 0 is `from`, of 1 is `to`.
pub(crate) fn mix(from: Rgb888, to: Rgb888, share: f32) -> Rgb888 {
    let channel = |from: u8, to: u8| {
        let mixed = f32::from(from) + (f32::from(to) - f32::from(from)) * share.clamp(0.0, 1.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between two bytes"
        )]
        let byte = mixed.round() as u8;
        byte
    };
    Rgb888::new(
        channel(from.r(), to.r()),
        channel(from.g(), to.g()),
        channel(from.b(), to.b()),
    )
}
