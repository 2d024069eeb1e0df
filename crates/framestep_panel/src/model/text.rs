//! Texts that fit a line of a view.

use std::fmt::Write as _;
use std::panic::Location;
use std::time::Duration;

/// Longer names are cut.
const LONGEST: usize = 160;

/// The text in one line. Control characters, and characters that would change the direction
/// or the position of others, are escaped. A long text is cut.
pub(crate) fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(LONGEST));
    for (count, c) in text.chars().enumerate() {
        if count == LONGEST {
            out.push('…');
            break;
        }
        if c.is_control() || is_invisible(c) {
            // Writing to a `String` does not fail.
            let _ = write!(out, "{}", c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// Direction marks, joiners, and other characters without a width.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a line belongs to a crate from a registry, from a repository or from the toolchain.
pub(crate) fn is_elsewhere(at: &Location<'_>) -> bool {
    const ROOTS: [&str; 4] = [
        "registry/src/",
        "git/checkouts/",
        "rustlib/src/rust/library/",
        "/rustc/",
    ];
    let file = at.file().replace('\\', "/");
    ROOTS.iter().any(|root| {
        let mut found = file.match_indices(root);
        found.any(|(at, _)| at == 0 || root.starts_with('/') || file[..at].ends_with('/'))
    })
}

/// The last two parts of a file's path, and the line. Those of another crate begin with the name
/// of the crate: its path in the toolchain or in a registry says no more.
pub(crate) fn place(at: &Location<'_>) -> String {
    let file = at.file();
    let mut slashes = file.rmatch_indices(['/', '\\']);
    let from = if is_elsewhere(at) {
        slashes.find(|(slash, _)| {
            let rest = &file[slash + 1..];
            rest.split(['/', '\\']).nth(1) == Some("src")
        })
    } else {
        slashes.nth(1)
    };
    let file = from.map_or(file, |(slash, _)| &file[slash + 1..]);
    format!("{}:{}", clean(file), at.line())
}

/// A time in three or four characters and a unit.
pub(crate) fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    let nanos = time.as_nanos();
    if nanos == 0 {
        "0".to_owned()
    } else if nanos < 1_000_000 {
        format!("{} µs", nanos.div_ceil(1000))
    } else if nanos < 10_000_000 {
        format!("{:.1} ms", time.as_secs_f64() * 1e3)
    } else if nanos < 1_000_000_000 {
        format!("{} ms", time.as_millis())
    } else if seconds < 10 {
        format!("{:.2} s", time.as_secs_f64())
    } else if seconds < 100 {
        format!("{:.1} s", time.as_secs_f64())
    } else if seconds < 6000 {
        format!("{} min {:02}", seconds / 60, seconds % 60)
    } else {
        format!("{} h", seconds / 3600)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{LONGEST, clean, duration};

    #[test]
    fn names_stay_on_one_line() {
        assert_eq!(
            clean("a\nb\u{202e}c\u{1b}[31m"),
            "a\\nb\\u{202e}c\\u{1b}[31m"
        );
        assert_eq!(clean("größer 大きい"), "größer 大きい");
        assert_eq!(clean(&"x".repeat(10_000)).chars().count(), LONGEST + 1);
    }

    #[test]
    fn times_are_short() {
        for (nanos, text) in [
            (0, "0"),
            (1, "1 µs"),
            (1_500_000, "1.5 ms"),
            (250_000_000, "250 ms"),
            (1_250_000_000, "1.25 s"),
            (61_000_000_000, "61.0 s"),
            (125_000_000_000, "2 min 05"),
        ] {
            assert_eq!(duration(Duration::from_nanos(nanos)), text);
        }
        assert!(duration(Duration::MAX).ends_with(" h"));
    }
}
