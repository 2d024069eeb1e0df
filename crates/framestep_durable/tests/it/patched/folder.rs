//! What a studio sees of its saves and of its changes.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use framestep_durable::prelude::*;
use framestep_durable::{ChangeKind, StatementChange};

use super::{Builds, Story, builds, frame};

fn inserted() -> Builds {
    builds!({
        line("a").await;
        line("b").await;
    } => {
        line("a").await;
        line("new").await;
        line("newer").await;
        line("b").await;
    })
}

fn refused() -> Builds {
    builds!({
        line("a").await;
        line("b").await;
    } => {
        line("a").await;
        let count = with(|story: &mut Story| story.len());
        line("b").await;
        say(format!("{count}"));
    })
}

fn file_of(builds: &Builds) -> Vec<u8> {
    let (mut runtime, mut story) = (Runtime::new((builds.before)()), Story::new());
    (builds.begin)(&runtime);
    (0..7).for_each(|number| frame(&mut runtime, &mut story, number));
    runtime.save().unwrap().to_bytes()
}

#[test]
fn a_folder_says_of_each_save_whether_it_fits_and_what_a_load_goes_past() {
    let folder = std::env::temp_dir().join(format!("framestep-patched-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let builds = inserted();
    fs::write(folder.join("inn.save"), file_of(&builds)).unwrap();
    let saves = (builds.after)()
        .check_folder(&folder, SaveState::from_bytes)
        .unwrap();
    let said = saves.to_string();
    assert!(
        said.contains("inn.save: fits: 2 lines inserted before, passed\n"),
        "{said}"
    );
    assert!(said.ends_with("1 of 1 saves fit"), "{said}");
    (builds.after)().assert_folder(&folder, SaveState::from_bytes);
    let saves = (builds.before)()
        .check_folder(&folder, SaveState::from_bytes)
        .unwrap();
    assert!(saves.to_string().contains("inn.save: fits\n"));

    let refuses = (refused().after)();
    let test = || refuses.assert_folder(&folder, SaveState::from_bytes);
    let panic = catch_unwind(AssertUnwindSafe(test)).unwrap_err();
    fs::remove_dir_all(&folder).unwrap();
    let said = panic.downcast_ref::<String>().unwrap();
    for part in [
        "inn.save: refused: the script `talk` (#1) does not fit its save",
        "folder.rs:",
        "read it behind the point of the save",
        "RestartAfterWait waits for the first of",
        "0 of 1 saves fit",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn what_has_passed_has_the_lines_of_both_builds() {
    let builds = inserted();
    let save = SaveState::from_bytes(&file_of(&builds)).unwrap();
    let dry_run = (builds.after)().dry_run(&save);
    let [passed] = &dry_run.passed[..] else {
        panic!("{dry_run}");
    };
    let kinds: Vec<ChangeKind> = passed.changes.iter().map(|change| change.kind).collect();
    assert!(
        kinds.iter().all(|kind| *kind == ChangeKind::Inserted),
        "{kinds:?}"
    );
    let at = passed.changes[0].at.as_deref().unwrap();
    assert!(at.contains("patched/folder.rs:"), "{at}");
    assert!(
        dry_run.to_string().contains("goes on: `with` at "),
        "{dry_run}"
    );
}

#[test]
fn the_places_of_a_shipped_build_say_what_has_changed_since() {
    let builds = inserted();
    let shipped = (builds.before)().places();
    assert_eq!((builds.before)().changes_since(&shipped), Some(Vec::new()));
    let changes = (builds.after)().changes_since(&shipped).unwrap();
    assert_eq!(changes.len(), 2);
    for change in &changes {
        assert_eq!(change.script, "talk");
        assert!(
            matches!(&change.change, StatementChange::Inserted(at) if at.contains("folder.rs:"))
        );
    }
    let gone = Registry::new().changes_since(&shipped).unwrap();
    assert_eq!(
        gone[0].to_string(),
        "`talk`: the script is gone: saves in it are refused"
    );
    for cut in 0..shipped.len() {
        assert_eq!((builds.after)().changes_since(&shipped[..cut]), None);
    }
}

#[test]
fn a_save_that_another_thread_has_written_has_its_tables_and_marks() {
    let builds = inserted();
    let (mut runtime, mut story) = (Runtime::new((builds.before)()), Story::new());
    (builds.begin)(&runtime);
    (0..7).for_each(|number| frame(&mut runtime, &mut story, number));
    let save = runtime.save().unwrap();
    let here = save.to_bytes();
    let sent = save.into_send();
    let there = std::thread::spawn(move || sent.into_save_state().to_bytes());
    assert_eq!(there.join().unwrap(), here);
}
