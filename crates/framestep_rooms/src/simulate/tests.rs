use super::*;

#[test]
fn no_promise_is_broken_in_a_thousand_histories() {
    let mut counts = Counts::default();
    for seed in 0..1_000 {
        match history(seed, None) {
            Ok(of_it) => counts.add(&of_it),
            Err(broken) => panic!("{broken}"),
        }
    }
    // All kinds of trouble were there.
    for count in [
        counts.kills,
        counts.pauses,
        counts.partitions,
        counts.drains,
        counts.upgrades,
        counts.cuts,
        counts.lost,
        counts.doubled,
        counts.refused,
        counts.moves,
        counts.killed,
        counts.unread,
        counts.astray,
        counts.sessions,
        counts.late,
        counts.late_openings,
        counts.late_closes,
        counts.closed,
        counts.old_starts,
    ] {
        assert!(count > 100, "{counts:?}");
    }
    assert!(counts.begun_empty > 5 && counts.orders > 30, "{counts:?}");
}

/// Where a rare one is found. `cargo run --release --features simulate --example simulate --
/// --histories 100000 --mutant NAME` searches from the first history on.
fn first_seed(mutant: Mutant) -> u64 {
    match mutant {
        Mutant::BeginAnywhere => 400,
        Mutant::VoidIsTaken => 1_700,
        Mutant::EndingsAreForgotten => 2_700,
        _ => 1,
    }
}

#[test]
fn each_injected_bug_is_found() {
    for mutant in Mutant::ALL {
        let (name, first) = (format!("{mutant:?}"), first_seed(mutant));
        let found = (first..first + 200).find(|&seed| history(seed, Some(&name)).is_err());
        let seed = found.unwrap_or_else(|| panic!("{name} was not found"));
        assert!(
            history(seed, None).is_ok(),
            "{name} was found where no bug was injected"
        );
    }
}

#[test]
fn a_history_is_a_function_of_its_seed() {
    for seed in 0..50 {
        let text = || format!("{:?}", history(seed, None));
        assert_eq!(text(), text());
    }
}
