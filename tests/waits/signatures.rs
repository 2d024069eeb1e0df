//! The closures that waits take may borrow from the script. docs/guide/waits.md has the types that
//! waits return, in code that is tested with the page.

use std::cell::Cell;

use framestep::prelude::*;

#[test]
fn closures_may_borrow_and_change_what_they_borrow() {
    let mut executor = framestep_testkit::timeline::unclamped();
    let keys = Signal::new();
    let emit = keys.clone();
    let gold = Watch::new(0);
    let pays = gold.clone();
    let script = executor.start(async move {
        let (checks, reads) = (Cell::new(0), Cell::new(0));
        wait_until(|| {
            checks.set(checks.get() + 1);
            checks.get() == 2
        })
        .await;
        let mut shares = Vec::new();
        animate(1, |share| shares.push(share)).await;
        changes_of(|| {
            reads.set(reads.get() + 1);
            reads.get() / 2
        })
        .next()
        .await;
        let seen = Cell::new(0);
        keys.wait_for(|&key| {
            seen.set(seen.get() + key);
            seen.get() > 2
        })
        .await;
        gold.wait_for(|&gold| {
            seen.set(seen.get() + gold);
            gold > 0
        })
        .await;
        on_error(async { Err("no") }, |error| {
            shares.push(f32::from(u8::from(error == "no")));
        })
        .await;
        (checks.get(), shares.len(), reads.get(), seen.get())
    });
    while !script.is_finished() {
        emit.emit(1);
        pays.update(|gold| *gold += 1);
        executor.run_frame(1);
    }
    let (checks, shares, reads, seen) = script.take_output().unwrap().unwrap();
    assert_eq!((checks, shares, reads), (2, 3, 2));
    assert!(seen > 3);
}
