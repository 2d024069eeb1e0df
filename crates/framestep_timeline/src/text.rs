//! Makes names of any characters fit for display.

use std::fmt::Write as _;

/// Replaces characters that are invisible, or that reverse the line, by their escapes:
/// control characters, direction marks, characters without a width.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_hidden(character) {
            let _ = write!(shown, "{}", character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
        || (character as u32 & 0xfffe) == 0xfffe
}

/// Cuts a text to a number of characters, with an ellipsis.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(most.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// The name of a future's type without its modules: `boss` for
/// `game::enemies::boss::{{closure}}`.
pub(crate) fn without_path(name: &str) -> String {
    if !name.contains("::") {
        return name.to_owned();
    }
    let name = name.replace("::{{closure}}", "");
    let mut short = String::new();
    let mut word = 0;
    let mut rest = name.as_str();
    while let Some(character) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("::") {
            short.truncate(word);
            rest = after;
            continue;
        }
        short.push(character);
        if !character.is_alphanumeric() && character != '_' {
            word = short.len();
        }
        rest = &rest[character.len_utf8()..];
    }
    if short.is_empty() { name } else { short }
}

/// A length of time, rounded for people: sums of floats are seldom whole.
pub(crate) fn seconds(nanos: u64) -> String {
    let digits = match nanos {
        0..1_000_000 => 1,
        1_000_000..100_000_000 => 1_000,
        _ => 10_000,
    };
    let rounded = nanos.saturating_add(digits / 2) / digits * digits;
    format!("{:?}", std::time::Duration::from_nanos(rounded))
}

/// A length of time with three digits.
pub(crate) fn about(nanos: u64) -> String {
    let (unit, name) = match nanos {
        0..1_000 => return format!("{nanos} ns"),
        1_000..1_000_000 => (1e3, "µs"),
        1_000_000..1_000_000_000 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    let value = nanos as f64 / unit;
    let digits = if value < 10.0 {
        2
    } else {
        usize::from(value < 100.0)
    };
    format!("{value:.digits$} {name}")
}

/// A number with commas: `10,000`.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 frame`, `2 frames`.
pub(crate) fn counted(number: u64, word: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {word}{plural}", count(number))
}

/// The first words of a list, and how many there are besides: `3, 4, 9 and 5 more`.
pub(crate) fn list(words: impl ExactSizeIterator<Item = String>, most: usize) -> String {
    let all = words.len();
    let shown = words.take(most).collect::<Vec<_>>().join(", ");
    match all.saturating_sub(most) {
        0 => shown,
        more => format!("{shown} and {} more", count(more as u64)),
    }
}

/// Whether `text` matches a pattern in which `*` stands for any characters.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Whether two names are so similar that one may be a typo of the other: they differ by a
/// few letters, or by an ending. Case and punctuation do not count.
pub(crate) fn is_similar(one: &str, other: &str) -> bool {
    let letters = |text: &str| -> Vec<char> {
        let letters = text.chars().filter(|letter| letter.is_alphanumeric());
        letters.flat_map(char::to_lowercase).take(LONGEST).collect()
    };
    let (one, other) = (letters(one), letters(other));
    let (short, long) = if one.len() < other.len() {
        (one, other)
    } else {
        (other, one)
    };
    if short.len() < 3 {
        return false;
    }
    long.starts_with(&short) || long.ends_with(&short) || distance(&short, &long) * 4 <= long.len()
}

/// How many letters of a name are compared.
const LONGEST: usize = 64;

/// How many letters are added, left out or exchanged.
fn distance(one: &[char], other: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.iter().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], at + 1);
        for (column, beside) in other.iter().enumerate() {
            let exchanged = corner + usize::from(letter != beside);
            corner = row[column + 1];
            row[column + 1] = exchanged.min(corner + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::{about, count, is_similar, list, matches, seconds, shorten};
    use super::{visible, without_path};

    #[test]
    fn names_that_are_easily_confused_are_similar() {
        for (one, other) in [
            ("gate.open", "gate.opened"),
            ("gate open", "Gate-Open"),
            ("door", "castle.door"),
            ("lever", "leber"),
            ("boss_died", "boss_dies"),
        ] {
            assert!(
                is_similar(one, other) && is_similar(other, one),
                "{one} {other}"
            );
        }
        for (one, other) in [
            ("gate.open", "boss died"),
            ("a", "ab"),
            ("", ""),
            ("door", "dusk"),
        ] {
            assert!(!is_similar(one, other), "{one} {other}");
        }
    }

    #[test]
    fn hidden_characters_are_shown_as_escapes() {
        assert_eq!(visible("a\u{202e}b\0\n"), "a\\u{202e}b\\u{0}\\n");
        assert_eq!(visible("héros 勇者"), "héros 勇者");
        assert_eq!(visible("\u{ffff}\u{200b}"), "\\u{ffff}\\u{200b}");
    }

    #[test]
    fn a_long_name_is_cut_between_characters() {
        assert_eq!(shorten("勇者勇者", 3), "勇者…");
        assert_eq!(shorten("abc", 3), "abc");
    }

    #[test]
    fn the_name_of_a_type_loses_its_modules() {
        assert_eq!(without_path("game::boss::{{closure}}"), "boss");
        assert_eq!(without_path("a::In<b::c::{{closure}}, d::E>"), "In<c, E>");
        assert_eq!(without_path("boss"), "boss");
        assert_eq!(without_path("::"), "::");
    }

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, text) in [
            ("boss", "boss"),
            ("b*", "boss"),
            ("*s", "boss"),
            ("b*s*", "boss"),
            ("*", ""),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("boss", "bosses"),
            ("b*x", "boss"),
            ("", "boss"),
            ("ab*ba", "aba"),
        ] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn numbers_are_short_enough_to_read() {
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(123), "123");
        assert_eq!(seconds(999_999_640), "1s");
        assert_eq!(seconds(16_666_667), "16.667ms");
        assert_eq!(list([1, 2, 3].map(count).into_iter(), 2), "1, 2 and 1 more");
        assert_eq!(about(1_234), "1.23 µs");
        assert_eq!(about(45_600_000), "45.6 ms");
    }
}
