//! Which scripts are listed, and in which order.

use framestep::inspect::describe;
use framestep::prelude::*;
use framestep_panel::{Filter, Kind, Order};

use crate::{listed, opened, run};

fn scene() -> (Executor, framestep_panel::Panel, Owner) {
    let (mut executor, mut panel) = opened();
    let orc = executor.owner().named("orc 7v1");
    orc.script("Patrol").start(async {
        describe("walks");
        wait_seconds(9).await;
    });
    let bell = Signal::<()>::new().named("church bell");
    orc.script("listener")
        .start(async move { bell.wait().await });
    executor.script("camera").start(async {
        loop {
            next_frame().await;
        }
    });
    run(&mut executor, &mut panel, 3);
    (executor, panel, orc)
}

#[test]
fn a_text_is_found_in_names_owners_descriptions_and_waits() {
    let (_executor, mut panel, _orc) = scene();
    for (text, found) in [
        ("patrol", vec!["orc 7v1 1", "  Patrol"]),
        ("ORC", vec!["orc 7v1 2", "  Patrol", "  listener"]),
        ("walk", vec!["orc 7v1 1", "  Patrol"]),
        ("church", vec!["orc 7v1 1", "  listener"]),
        (
            "filters.rs",
            vec![
                "(no owner) 1",
                "  camera",
                "orc 7v1 2",
                "  Patrol",
                "  listener",
            ],
        ),
        ("größe", vec![]),
    ] {
        panel.filter_mut().text = text.into();
        assert_eq!(listed(&mut panel), found, "{text}");
    }
}

#[test]
fn a_signal_is_found_by_the_script_that_has_emitted_it() {
    let (mut executor, mut panel, _orc) = scene();
    let dusk = Signal::<()>::new().named("dusk");
    executor.script("sun").start(async move {
        dusk.emit(());
        wait_seconds(9).await;
    });
    panel.filter_mut().text = "dUsk".into();
    run(&mut executor, &mut panel, 1);
    assert_eq!(listed(&mut panel), ["sun"]);
}

#[test]
fn kinds_and_the_selected_entity_are_filters() {
    let (_executor, mut panel, _orc) = scene();
    panel.filter_mut().toggle(Kind::Event);
    assert_eq!(listed(&mut panel), ["orc 7v1 1", "  listener"]);
    panel.filter_mut().toggle(Kind::Event);
    assert!(panel.filter().is_empty());
    panel.filter_mut().only_entity = true;
    assert!(listed(&mut panel).is_empty());
    panel.select_entity(Some("orc 7v1"));
    assert_eq!(listed(&mut panel), ["orc 7v1 2", "  Patrol", "  listener"]);
    panel.select_entity(None);
    assert!(listed(&mut panel).is_empty());
    *panel.filter_mut() = Filter::default();
    assert_eq!(listed(&mut panel).len(), 5);
}

#[test]
fn the_longest_wait_is_first() {
    let (mut executor, mut panel, _orc) = scene();
    panel.set_order(Order::Longest);
    executor.script("late").start(wait_seconds(9));
    run(&mut executor, &mut panel, 1);
    let lines = listed(&mut panel);
    assert_eq!(lines[..2], ["Patrol", "listener"]);
    assert_eq!(lines.last().unwrap(), "camera");
    panel.set_order(Order::Slowest);
    assert_eq!(listed(&mut panel).len(), 4);
}
