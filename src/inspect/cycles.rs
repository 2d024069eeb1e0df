//! Cycles in a graph.

/// The cycles of a graph. Each node has at most one successor, in `next`. Each
/// cycle begins with its smallest node. The cycles are sorted by that node.
pub(super) fn of(next: &[Option<usize>]) -> Vec<Vec<usize>> {
    // The start of the walk that reached each node first.
    let mut walk = vec![usize::MAX; next.len()];
    let mut cycles = Vec::new();
    for start in 0..next.len() {
        let mut at = start;
        while walk[at] == usize::MAX {
            walk[at] = start;
            match next[at] {
                Some(after) => at = after,
                None => break,
            }
        }
        // This walk has returned to a node that it visited before.
        if walk[at] == start && next[at].is_some() {
            cycles.push(cycle(next, at));
        }
    }
    cycles.sort_unstable();
    cycles
}

/// The cycle through `member`.
fn cycle(next: &[Option<usize>], member: usize) -> Vec<usize> {
    let around = |from| {
        let after = move |&at: &usize| next[at].filter(|&after| after != from);
        std::iter::successors(Some(from), after)
    };
    let least = around(member).min().unwrap_or(member);
    around(least).collect()
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn lines_have_no_cycle() {
        assert!(of(&[]).is_empty());
        assert!(of(&[Some(1), Some(2), None, None]).is_empty());
        assert!(of(&[None, Some(0), Some(1), Some(0)]).is_empty());
    }

    #[test]
    fn cycles_begin_with_the_least_node_and_leave_out_nodes_that_lead_to_them() {
        // 0 -> 3 -> 1 -> 4 -> 3, 5 -> 5, 6 -> 2 -> 7 -> 2
        let next = [3, 4, 7, 1, 3, 5, 2, 2].map(Some);
        assert_eq!(of(&next), [vec![1, 4, 3], vec![2, 7], vec![5]]);
    }
}
