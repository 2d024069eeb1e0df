//! The picture: it is well-formed, contains what it should, and stays readable.

use framestep::prelude::*;
use framestep_timeline::{Film, Recorder, Theme};
use roxmltree::Document;

use crate::support::{crowd, message, recorded, scene};

fn texts(svg: &str) -> Vec<String> {
    let document = Document::parse(svg).expect("the picture is XML");
    let nodes = document
        .descendants()
        .filter(|node| node.has_tag_name("text"));
    nodes
        .map(|node| node.text().unwrap_or("").to_owned())
        .collect()
}

fn titles(film: &Film) -> Vec<String> {
    let svg = film.svg().to_string();
    let document = Document::parse(&svg).expect("the picture is XML");
    let nodes = document
        .descendants()
        .filter(|node| node.has_tag_name("title"));
    nodes
        .map(|node| node.text().unwrap_or("").to_owned())
        .collect()
}

#[test]
fn lanes_are_grouped_by_owner_and_named() {
    let svg = scene().svg().title("A scene").to_string();
    let texts = texts(&svg);
    for text in [
        "A scene",
        "heroes",
        "hero",
        "line",
        "level",
        "gate",
        "archer",
        "no owner",
        "camera",
        "signal lever",
    ] {
        assert!(
            texts.iter().any(|is| is == text),
            "{text} is missing in {texts:?}"
        );
    }
    let at = |text: &str| texts.iter().position(|is| is == text).unwrap();
    assert!(at("no owner") < at("camera") && at("camera") < at("heroes"));
    assert!(at("heroes") < at("hero") && at("line") < at("level"));
    assert!(
        texts.contains(
            &"frames 0 to 16  ·  0 ns to 4.00 s on the game clock  ·  6 scripts".to_owned()
        )
    );
}

#[test]
fn everything_says_where_it_comes_from() {
    let titles = titles(&scene());
    let has = |begin: &str, then: &str| {
        titles
            .iter()
            .any(|title| title.starts_with(begin) && title.contains(then))
    };
    assert!(
        has(
            "gate (2v1) waits for signal lever\nfrom frame 0 to 2\n",
            "support.rs:"
        ),
        "{titles:#?}"
    );
    assert!(has(
        "gate (2v1) is polled, resumed by lever\nframe 2, 500ms, Update\n",
        "support.rs:"
    ));
    assert!(has(
        "end of a joined script: line (1v1) to hero (0v1)\nframe 2",
        ""
    ));
    assert!(has("signal: hero (0v1) to gate (2v1)\n", "frame 2"));
    assert!(has("starts: hero (0v1) to line (1v1)\n", "frame 0"));
    assert!(has("hero (0v1) emits lever\n", "frame 2"));
    assert!(has("the host emits lever\n", "frame 13"));
    assert!(has("paused in frame 2 by the host", ""));
    assert!(has("camera (4v1) stopped\n", "frame 9"));
}

#[test]
fn a_theme_is_chosen_or_follows_the_system() {
    let film = scene();
    let auto = film.svg().to_string();
    assert!(auto.contains("prefers-color-scheme: dark"));
    let light = film.svg().theme(Theme::Light).to_string();
    let dark = film.svg().theme(Theme::Dark).to_string();
    for (svg, back) in [(&light, "#ffffff"), (&dark, "#0f141b")] {
        assert!(!svg.contains("prefers-color-scheme"));
        assert!(svg.contains(&format!(".back {{ fill: {back}; }}")));
    }
}

#[test]
fn a_crowd_is_collapsed_to_the_busiest_and_says_so() {
    let svg = crowd(40, 250).svg().to_string();
    let texts = texts(&svg);
    assert!(
        texts
            .iter()
            .any(|text| text.contains("10,000 scripts  ·  9,960 of them not shown")),
        "{texts:?}"
    );
    assert!(
        texts.iter().any(|text| text == "36 more owners"),
        "{texts:?}"
    );
    assert!(texts.iter().any(|text| text == "240 more"), "{texts:?}");
    assert_eq!(
        texts
            .iter()
            .filter(|text| text.starts_with("soldier "))
            .count(),
        40
    );
    assert!(svg.len() < 1_000_000, "{}", svg.len());
    let few = crowd(2, 10).svg().most_lanes(5).to_string();
    assert!(few.contains("15 of them not shown"));
}

#[test]
fn the_busiest_includes_those_with_findings() {
    let (mut executor, recorder) = recorded();
    for _ in 0..100 {
        executor.script("busy").start(async {
            loop {
                next_frame().await;
            }
        });
    }
    executor.script("lost").start(wait_seconds(f64::INFINITY));
    executor.run_frames(5, 0.25);
    let svg = recorder.film().svg().most_lanes(3).to_string();
    assert!(texts(&svg).iter().any(|text| text == "lost"));
    let bare = recorder.film().svg().findings(false).to_string();
    assert!(!bare.contains("Look here"));
}

#[test]
fn a_long_film_stays_small_and_within_its_width() {
    let (mut executor, recorder) = recorded();
    for _ in 0..10 {
        executor.script("awake").start(async {
            loop {
                next_frame().await;
            }
        });
    }
    executor.run_frames(3_000, 0.25);
    let svg = recorder.film().svg().width(800).to_string();
    assert!(svg.len() < 3_000_000, "{}", svg.len());
    let document = Document::parse(&svg).unwrap();
    assert_eq!(document.root_element().attribute("width"), Some("800"));
    for node in document
        .descendants()
        .filter(|node| node.has_tag_name("rect"))
    {
        let number = |name: &str| {
            node.attribute(name)
                .map_or(0.0, |text| text.parse::<f64>().unwrap())
        };
        assert!(number("x") + number("width") <= 800.5, "{node:?}");
        assert!(number("x") >= 0.0 && number("width") >= 0.0, "{node:?}");
    }
}

#[test]
fn an_empty_film_is_a_picture() {
    let svg = Recorder::new().film().svg().width(1).to_string();
    let document = Document::parse(&svg).unwrap();
    assert_eq!(document.root_element().attribute("width"), Some("400"));
}

#[test]
fn a_page_has_the_film_in_rows_of_several_sizes() {
    let film = scene();
    let page = film.html().title("A <day>").rows_of(&[10, 5]).to_string();
    assert!(page.contains("<title>A &lt;day&gt;</title>"));
    // Frames 0 to 16.
    assert_eq!(page.matches("<section data-from").count(), 2 + 4);
    assert!(page.contains("<section data-from=\"15\" data-to=\"19\">"));
    assert!(page.contains("Frames 15 to 16"));
    assert_eq!(page.matches("Look here").count(), 1);
    for section in page.split("<section").skip(1) {
        let from = section.find("<svg").unwrap();
        let to = section.find("</svg>").unwrap();
        assert!(Document::parse(&section[from..to + 6]).is_ok());
    }
    let text = message(|| drop(film.html().rows_of(&[])));
    assert!(text.contains("such as `&[200]`"), "{text}");
}

#[test]
fn a_row_of_a_page_tints_only_waits_that_last_to_the_end_of_the_film() {
    let (mut executor, recorder) = recorded();
    let (soon, never) = (
        Signal::<()>::new().named("soon"),
        Signal::<()>::new().named("never"),
    );
    let comes = soon.clone();
    executor.script("waits").start(async move {
        soon.wait().await;
        wait_seconds(1_000).await;
    });
    executor
        .script("stuck")
        .start(async move { never.wait().await });
    executor.script("sun").start(async move {
        wait_frames(25).await;
        comes.emit(());
        wait_seconds(1_000).await;
    });
    executor.run_frames(39, 0.25);
    let film = recorder.film();
    // Both wait through the first 20 frames, and one of them to the end.
    let part = film.clone().frames(0..=19);
    assert_eq!(part.svg().to_string().matches("bar h4 endless").count(), 1);
    let page = film.html().rows_of(&[20]).to_string();
    assert_eq!(page.matches("bar h4 endless").count(), 2, "one in each row");
}
