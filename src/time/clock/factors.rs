//! The product of the factors of guards.

use std::collections::BTreeSet;

/// Factors, and their product.
///
/// A product of floats divided by one of them is not exactly the product of the others. So
/// the factors are the leaves of a tree, and each node above is the product of the two below
/// it. A change computes the nodes above one leaf again. A leaf without a factor is 1: when
/// the last factor that was added is removed, the product is exactly what it was before.
#[derive(Debug, Default)]
pub(super) struct Factors {
    /// How many leaves have had a factor.
    leaves: usize,
    /// Those that have none now. The next factor takes the first: so its leaf, and the product
    /// to the last bit, depend only on which leaves are in use, which an image contains.
    free: BTreeSet<usize>,
    /// Below node `n` are the nodes `2 * n` and `2 * n + 1`; node 1 is the root. The second
    /// half are the leaves.
    nodes: Vec<f64>,
}

impl Factors {
    /// How many factors there are.
    pub(super) fn len(&self) -> usize {
        self.leaves - self.free.len()
    }

    /// The product of all factors.
    pub(super) fn product(&self) -> f64 {
        self.nodes.get(1).copied().unwrap_or(1.0)
    }

    /// Adds a factor. Returns its leaf.
    pub(super) fn add(&mut self, factor: f64) -> usize {
        let leaf = self.free.first().copied().unwrap_or(self.leaves);
        self.put(leaf, factor);
        leaf
    }

    /// Adds a factor at a leaf. Returns `false` if that leaf has one.
    pub(super) fn put(&mut self, leaf: usize, factor: f64) -> bool {
        if leaf >= self.leaves {
            self.free.extend(self.leaves..=leaf);
            self.leaves = leaf + 1;
        }
        if !self.free.remove(&leaf) {
            return false;
        }
        while leaf >= self.nodes.len() / 2 {
            self.grow();
        }
        self.set(leaf, factor);
        true
    }

    pub(super) fn remove(&mut self, leaf: usize) {
        self.free.insert(leaf);
        self.set(leaf, 1.0);
    }

    /// Makes room for twice as many leaves.
    fn grow(&mut self) {
        let leaves = self.nodes.split_off(self.nodes.len() / 2);
        let half = (2 * leaves.len()).max(1);
        self.nodes = vec![1.0; 2 * half];
        self.nodes[half..half + leaves.len()].copy_from_slice(&leaves);
        for node in (1..half).rev() {
            self.multiply(node);
        }
    }

    fn set(&mut self, leaf: usize, factor: f64) {
        let mut node = self.nodes.len() / 2 + leaf;
        self.nodes[node] = factor;
        while node > 1 {
            node /= 2;
            self.multiply(node);
        }
    }

    /// Computes a node above leaves.
    fn multiply(&mut self, node: usize) {
        self.nodes[node] = multiply(self.nodes[2 * node], self.nodes[2 * node + 1]);
    }
}

/// The product of two scales, which stays finite.
pub(super) fn multiply(a: f64, b: f64) -> f64 {
    (a * b).min(f64::MAX)
}

#[cfg(test)]
mod tests {
    use super::Factors;
    use crate::random::Random;

    fn bits(factors: &Factors) -> u64 {
        factors.product().to_bits()
    }

    #[test]
    fn a_factor_that_is_added_and_removed_changes_nothing() {
        let mut random = Random(0x5EED_0104);
        let mut factor = || f64::from(random.within(1..3_000)) / 1_000.0;
        let mut factors = Factors::default();
        for _ in 0..100 {
            let before = bits(&factors);
            let added: Vec<usize> = (0..10).map(|_| factors.add(factor())).collect();
            for leaf in added {
                factors.remove(leaf);
            }
            assert_eq!(bits(&factors), before);
            factors.add(factor());
        }
    }

    #[test]
    fn factors_that_are_put_at_their_leaves_continue_like_the_others() {
        let mut random = Random(0x5EED_0106);
        let mut factors = Factors::default();
        let mut known: Vec<(usize, f64)> = Vec::new();
        for _ in 0..300 {
            let factor = f64::from(random.within(1..3_000)) / 1_000.0;
            if known.len() > 20 || !known.is_empty() && random.below(3) == 0 {
                let at = usize::try_from(random.below(known.len() as u64)).unwrap();
                factors.remove(known.swap_remove(at).0);
            } else {
                known.push((factors.add(factor), factor));
            }
            let mut again = Factors::default();
            for &(leaf, factor) in &known {
                assert!(again.put(leaf, factor) && !again.put(leaf, factor));
            }
            assert_eq!((again.len(), bits(&again)), (factors.len(), bits(&factors)));
            // The same leaf, and the same product.
            let (leaf, other) = (factors.add(factor), again.add(factor));
            assert_eq!((leaf, bits(&factors)), (other, bits(&again)));
            factors.remove(leaf);
        }
    }

    #[test]
    fn whatever_is_left_counts_in_any_order() {
        let mut random = Random(0x5EED_0105);
        let mut factors = Factors::default();
        let mut known: Vec<(usize, i32)> = Vec::new();
        for _ in 0..2_000 {
            if known.is_empty() || random.below(2) == 0 {
                let power = random.within(-3..4);
                known.push((factors.add(2_f64.powi(power)), power));
            } else {
                let at = usize::try_from(random.below(known.len() as u64)).unwrap();
                factors.remove(known.swap_remove(at).0);
            }
            let power = known.iter().map(|&(_, power)| power).sum();
            assert_eq!(bits(&factors), 2_f64.powi(power).to_bits());
        }
        for (leaf, _) in known {
            factors.remove(leaf);
        }
        assert!(factors.len() == 0 && bits(&factors) == 1_f64.to_bits());
    }
}
