//! What the words of two statements have in common.

/// A bit for each of up to five words of a statement: of its texts, numbers and variables, apart from what it calls.
///
/// Two texts may have one or two of them in common by chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sketch(pub(crate) u32);

impl Sketch {
    fn words(self) -> u32 {
        self.0.count_ones()
    }

    fn shared(self, other: Sketch) -> u32 {
        Sketch(self.0 & other.0).words()
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
        let (this, other) = (self.shared(this), self.shared(other));
        if is_terse {
            this > 0 && other == 0
        } else {
            this >= other + 2
        }
    }
}
