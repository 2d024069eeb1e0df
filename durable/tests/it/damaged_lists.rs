//! Files that are read without a checksum, and contain impossible states.

use std::panic::{AssertUnwindSafe, catch_unwind};

use framestep_durable::prelude::*;

use crate::sleeps::blank;

/// Formats such as JSON have no checksum.
#[test]
fn numbers_of_a_damaged_file_are_an_error_and_no_panic_in_the_next_frame() {
    let mut runtime = blank();
    runtime.run_frame(0.1);
    let mut json = serde_json::to_value(runtime.snapshot().unwrap()).unwrap();
    for list in ["clocks", "lists"] {
        for at in 0..json[list].as_array().unwrap().len() {
            let kept = std::mem::replace(&mut json[list][at], u64::MAX.into());
            let snapshot: Snapshot = serde_json::from_value(json.clone()).unwrap();
            json[list][at] = kept;
            let mut other = blank();
            if other.restore(&snapshot, Policy::Fail).is_ok() {
                let frame = catch_unwind(AssertUnwindSafe(|| other.run_frame(0.1)));
                assert!(frame.is_ok(), "number {at} of `{list}`");
            }
        }
    }
}
