//! Tables of statements in files that were damaged or made up.

use framestep_durable::prelude::*;
use framestep_testkit::Random;
use serde_json::{Value as Json, json};

use super::{Story, line, say};

/// How many bytes an entry has if it is near the one before it, and near the statement around it.
const ENTRY: usize = 14;

#[durable]
async fn talk() {
    line("a").await;
    if with_ref(|story: &Story| story.len()) > 0 {
        say("b");
    }
    for text in labelled(["c", "d", "e"], |text| *text) {
        line(text).await;
    }
}

fn registry() -> Registry {
    Registry::new().script(talk)
}

fn saved() -> Json {
    let (mut runtime, mut story) = (Runtime::new(registry()), Story::new());
    runtime.spawn(talk()).detach();
    for _ in 0..12 {
        runtime.run_frame_with(&mut story, 0.1);
    }
    serde_json::to_value(runtime.save().unwrap()).unwrap()
}

#[test]
fn a_table_that_is_cut_or_names_a_statement_that_does_not_come_before_is_an_error() {
    let read = |save: &Json| serde_json::from_value::<SaveState>(save.clone());
    let save = saved();
    assert!(read(&save).is_ok());
    let len = save["tables"][0].as_array().unwrap().len();
    assert_eq!(len % ENTRY, 0);
    for cut in 1..ENTRY {
        let mut cut_save = save.clone();
        cut_save["tables"][0]
            .as_array_mut()
            .unwrap()
            .truncate(len - cut);
        assert!(read(&cut_save).is_err(), "{cut} bytes less");
    }
    let mut forward = save.clone();
    forward["tables"][0][ENTRY + 12] = json!(2);
    assert!(
        read(&forward).is_err(),
        "the second statement is in one before the first"
    );
    let mut itself = save.clone();
    itself["tables"][0][2 * ENTRY + 12] = json!(0);
    assert!(read(&itself).is_err(), "the third statement is in itself");
    let mut endless = save.clone();
    endless["tables"][0] = json!([vec![0; 12], vec![0xFF; 9]].concat());
    assert!(read(&endless).is_err(), "the number does not end");
    let mut missing = save.clone();
    missing["scripts"][0]["table"] = json!(2);
    assert!(read(&missing).is_err(), "there is one table");
    let mut marks = save;
    marks["scripts"][0]["marks"] = json!([1, 2, 3]);
    assert!(read(&marks).is_err(), "marks have two bytes each");
}

#[test]
fn a_table_that_says_anything_is_a_save_that_fits_or_is_refused() {
    let save = saved();
    let mut random = Random(48);
    for round in 0..200 {
        let mut forged = save.clone();
        let table = forged["tables"][0].as_array_mut().unwrap();
        if round % 2 == 0 {
            let whole = table.len() / ENTRY;
            table.truncate(ENTRY * random.below(whole as u64 + 1) as usize);
        }
        for _ in 0..random.below(40) {
            if let Some(at) = table.len().checked_sub(1) {
                let at = random.below(at as u64 + 1) as usize;
                table[at] = json!(random.below(256));
            }
        }
        let Ok(save) = serde_json::from_value::<SaveState>(forged) else {
            continue;
        };
        let mut runtime = Runtime::new(registry());
        let dry_run = registry().dry_run(&save);
        let restored = runtime.restore(&save, Policy::Fail);
        assert_eq!(dry_run.is_compatible(), restored.is_ok());
        if restored.is_ok() {
            runtime.save().unwrap();
            for _ in 0..40 {
                runtime.run_frame_with(&mut Story::new(), 0.1);
            }
        }
    }
}

#[test]
fn a_table_with_as_many_statements_as_there_can_be_is_compared_in_no_time() {
    let mut forged = saved();
    let one = forged["tables"][0].as_array().unwrap()[ENTRY..2 * ENTRY].to_vec();
    let first = vec![json!(0); ENTRY];
    let many = std::iter::repeat_n(one, 65_535).flatten();
    forged["tables"][0] = first.into_iter().chain(many).collect();
    let save: SaveState = serde_json::from_value(forged).unwrap();
    let error = Runtime::new(registry())
        .restore(&save, Policy::Fail)
        .unwrap_err();
    assert!(matches!(error, RestoreError::Diverged(_)), "{error}");
}
