//! Code that is changed while the game runs.

use framestep::prelude::*;
use framestep_panel::{Level, Panel};

use crate::{opened, run};

#[test]
fn what_is_told_about_the_code_is_shown_until_it_is_empty() {
    let mut panel = Panel::new();
    assert_eq!(panel.code(), None);
    panel.tell_code(Level::Error, "does not compile:\nerror[E0308]");
    let expected = "does not compile:\nerror[E0308]";
    assert_eq!(panel.code(), Some((Level::Error, expected)));
    panel.tell_code(Level::Note, "");
    assert_eq!(panel.code(), None);
}

#[test]
fn an_exchange_marks_its_frame_and_the_scripts_that_it_has_restarted() {
    let (mut executor, mut panel) = opened();
    let [door, gate] =
        ["door", "gate"].map(|name| executor.script(name).start(wait_seconds(9)).id());
    // Nothing has been recorded yet.
    panel.mark_code([]);
    run(&mut executor, &mut panel, 2);
    panel.mark_code([door]);
    run(&mut executor, &mut panel, 2);
    let marked: Vec<u64> = (0..5)
        .filter(|frame| panel.has_exchanged_code(*frame))
        .collect();
    assert_eq!(marked, [2]);
    assert!(panel.has_restarted(door) && !panel.has_restarted(gate));
    panel.mark_code([gate]);
    assert!(panel.has_exchanged_code(2) && panel.has_exchanged_code(4));
    assert!(!panel.has_restarted(door) && panel.has_restarted(gate));
    panel.close();
    assert!(!panel.has_exchanged_code(2) && !panel.has_restarted(gate));
}

#[test]
fn the_loop_and_the_way_back_are_asked_for_only_where_the_host_offers_them() {
    let mut panel = Panel::new();
    panel.toggle_loop();
    panel.go_back();
    assert!(!panel.take_loop() && !panel.take_back());
    panel.offer_rewind();
    panel.toggle_loop();
    assert!(panel.take_loop() && !panel.take_loop() && !panel.take_back());
    panel.go_back();
    assert!(panel.take_back() && !panel.take_back());
}
