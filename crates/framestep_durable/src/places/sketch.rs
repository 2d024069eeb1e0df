//! What the words of two statements have in common.

use crate::bytes::hash::{FNV, fnv};

/// A number of six bits, which is not 0, for each of up to five words of a statement: of its texts, numbers and
/// variables, apart from what it calls.
///
/// Two texts may have one or two of them in common by chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sketch(pub(crate) u32);

impl Sketch {
    fn numbers(self) -> impl Iterator<Item = u32> {
        let numbers = (0..5).map(move |at| self.0 >> (6 * at) & 0x3F);
        numbers.filter(|number| *number != 0)
    }

    fn words(self) -> u32 {
        self.shared(self)
    }

    fn shared(self, other: Sketch) -> u32 {
        let is_shared = |number: &u32| other.numbers().any(|of_other| of_other == *number);
        self.numbers().filter(is_shared).map(|_| 1).sum()
    }

    /// Whether there are too few words to tell it by them.
    pub(crate) fn is_terse(self) -> bool {
        self.words() < 4
    }

    /// From 0 to 32.
    pub(crate) fn likeness(self, other: Sketch) -> u32 {
        64 * self.shared(other) / (self.words() + other.words()).max(1)
    }

    /// Whether one may be the other with a few other words.
    pub(crate) fn may_be(self, other: Sketch) -> bool {
        let fewer = self.words().min(other.words());
        let needed = match fewer {
            0 => return self == other,
            1..4 => 1,
            _ => (3 * fewer).div_ceil(5),
        };
        self.shared(other) >= needed
    }

    /// Whether it is rather this one than another one, beyond chance.
    pub(crate) fn is_rather(self, this: Sketch, other: Sketch) -> bool {
        let is_terse = [self, this, other].into_iter().any(Sketch::is_terse);
        // Words were added at most, or left out.
        let is_whole = |of: Sketch| self.shared(of) == self.words().min(of.words());
        let (of_this, of_other) = (self.shared(this), self.shared(other));
        if of_this >= 2 && is_whole(this) && !is_whole(other) && of_this > of_other {
            return true;
        }
        // Three words in common are no chance, even beside a short text.
        if is_terse && of_this < 3 {
            of_this > 0 && of_other == 0
        } else {
            of_this >= of_other + 2
        }
    }
}

const MOST_WORDS: usize = 5;

impl Sketch {
    /// Of a text as `Debug` writes it, divided behind each character that is none of a word. The names of types and
    /// fields do not count.
    pub(crate) fn of_parts(parts: &[&str]) -> Self {
        let mut words: Vec<(bool, u32)> = Vec::new();
        let mut is_quoted = false;
        for (at, part) in parts.iter().enumerate() {
            let is_escaped = at > 0 && parts[at - 1].ends_with('\\');
            let word = part.trim_end_matches(|c: char| !c.is_alphanumeric());
            let is_name = !is_quoted
                && (part.ends_with([':', '(', '{'])
                    || part.ends_with(' ') && parts.get(at + 1).is_some_and(|next| *next == "{"));
            if part.ends_with('"') && !is_escaped {
                is_quoted = !is_quoted;
            }
            if word.is_empty() || is_name {
                continue;
            }
            let is_short = word.chars().count() < 5;
            let word = (is_short, mix(fnv(word.as_bytes(), FNV)));
            if let Err(at) = words.binary_search(&word) {
                words.insert(at, word);
                words.truncate(MOST_WORDS);
            }
        }
        let mut numbers: Vec<u32> = words.iter().map(|(_, hash)| 1 + hash % 63).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let join = |sketch, number: &u32| sketch << 6 | number;
        Sketch(numbers.iter().fold(0, join))
    }
}

/// Spreads a hash over all of its bits.
fn mix(mut hash: u32) -> u32 {
    hash = (hash ^ hash >> 16).wrapping_mul(0x85EB_CA6B);
    hash = (hash ^ hash >> 13).wrapping_mul(0xC2B2_AE35);
    hash ^ hash >> 16
}

#[cfg(test)]
mod tests {
    use super::Sketch;

    /// A sketch of words with these numbers.
    fn of(numbers: &[u32]) -> Sketch {
        Sketch(
            numbers
                .iter()
                .fold(0, |sketch, number| sketch << 6 | number),
        )
    }

    /// That of a text as `Debug` writes it.
    fn of_text(text: &str) -> Sketch {
        let parts: Vec<&str> = text
            .split_inclusive(|c: char| !c.is_alphanumeric())
            .collect();
        Sketch::of_parts(&parts)
    }

    #[test]
    fn five_words_of_six_bits_fill_a_sketch() {
        let all = of(&[63, 62, 61, 60, 59]);
        assert_eq!((all.words(), all.0 >> 30), (5, 0));
        assert_eq!(all.shared(of(&[59, 1])), 1);
        assert_eq!(of(&[]).words(), 0);
    }

    #[test]
    fn a_sketch_of_four_words_is_enough_to_tell_it() {
        assert!(of(&[1, 2, 3]).is_terse());
        assert!(!of(&[1, 2, 3, 4]).is_terse());
    }

    #[test]
    fn likeness_is_the_part_of_words_that_both_have() {
        assert_eq!(of(&[1, 2]).likeness(of(&[2, 1])), 32);
        assert_eq!(of(&[1, 2]).likeness(of(&[2, 3])), 16);
        assert_eq!(of(&[1]).likeness(of(&[2])), 0);
        assert_eq!(of(&[]).likeness(of(&[])), 0);
    }

    #[test]
    fn one_may_be_the_other_by_one_word_of_three_and_three_of_five() {
        let may_be = |one: &[u32], other: &[u32]| of(one).may_be(of(other));
        assert!(may_be(&[], &[]));
        assert!(!may_be(&[], &[1]));
        assert!(may_be(&[1], &[1, 2, 3, 4, 5]));
        assert!(may_be(&[1, 2, 3], &[3, 4, 5]));
        assert!(!may_be(&[1, 2, 3], &[4, 5]));
        assert!(may_be(&[1, 2, 3, 4], &[1, 2, 3, 9]));
        assert!(!may_be(&[1, 2, 3, 4], &[1, 2, 8, 9]));
        assert!(may_be(&[1, 2, 3, 4, 5], &[1, 2, 3, 8, 9]));
        assert!(!may_be(&[1, 2, 3, 4, 5], &[1, 2, 7, 8, 9]));
    }

    #[test]
    fn it_is_rather_the_one_with_two_more_of_its_words() {
        let is_rather =
            |it: &[u32], this: &[u32], other: &[u32]| of(it).is_rather(of(this), of(other));
        assert!(is_rather(&[1, 2, 3, 4], &[1, 2, 8, 9], &[5, 6, 7, 8]));
        assert!(!is_rather(&[1, 2, 3, 4], &[1, 7, 8, 9], &[5, 6, 7, 8]));
        assert!(!is_rather(&[1, 2, 3, 4], &[1, 2, 3, 9], &[1, 2, 8, 7]));
        // Words were added at most.
        assert!(is_rather(&[1, 2, 3, 4], &[1, 2, 3, 4, 5], &[1, 2, 3, 9]));
    }

    #[test]
    fn of_short_texts_one_word_tells_if_the_other_has_none() {
        let is_rather =
            |it: &[u32], this: &[u32], other: &[u32]| of(it).is_rather(of(this), of(other));
        assert!(is_rather(&[1, 2, 3], &[1, 8, 9], &[5, 6]));
        assert!(!is_rather(&[1, 2, 3], &[1, 8, 9], &[3, 6, 7]));
        assert!(!is_rather(&[1, 2, 3], &[1, 2, 9], &[3, 6, 7]));
        // Three are no chance.
        assert!(is_rather(&[1, 2, 3], &[1, 2, 3, 4], &[3]));
    }

    #[test]
    fn names_of_types_and_fields_are_no_words_of_an_item() {
        let text = of_text("\"Good evening, stranger.\"");
        assert_eq!(text.words(), 3);
        assert_eq!(of_text("Line { text: \"Good evening, stranger.\" }"), text);
        assert_eq!(of_text("Line(\"Good evening, stranger.\")"), text);
        assert_eq!(
            of_text("Line { who: Anna, text: \"Good evening, stranger.\" }").words(),
            4
        );
        assert_eq!(of_text("\"a \\\"b { c\\\" d\"").words(), 4);
    }

    #[test]
    fn a_text_has_the_words_that_the_attribute_finds_in_it() {
        assert_eq!(
            of_text("\"Good evening, stranger from far.\"").0,
            SKETCH_OF_ATTRIBUTE
        );
    }

    /// The same stands in the tests of the attribute.
    const SKETCH_OF_ATTRIBUTE: u32 = 192_014_901;
}
