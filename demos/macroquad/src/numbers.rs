//! Numbers for the screen, where the last digits do not matter.

/// A count as a length.
#[expect(clippy::cast_precision_loss, reason = "far below 16 million")]
pub(crate) fn real(count: usize) -> f32 {
    count as f32
}

/// A length as a count: below zero is zero.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it saturates"
)]
pub(crate) fn count(length: f32) -> usize {
    length as usize
}

/// A length in whole pixels.
#[expect(clippy::cast_possible_truncation, reason = "it saturates")]
pub(crate) fn pixels(length: f32) -> i32 {
    length as i32
}

/// With a comma before every three digits.
pub(crate) fn with_commas(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
