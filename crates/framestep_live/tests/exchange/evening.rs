//! An evening of sixty edits: nothing of the running game is lost without a word.
//!
//! Two scripts count aloud. After each edit, both must have counted on without a gap and without saying a number
//! twice, whatever has happened to the process meanwhile; and no script may be gone, unless that was told.
//!
//! `scripts/plays/evening`

use std::fs;
use std::process::{Command, Stdio};

use crate::sources::{Game, MAIN, SCRIPTS, Sources, TOWN, WORLD};

const STORY: &str = r#"//! The scripts of the game.

use framestep_durable::prelude::*;
use world::World;

#[durable]
pub async fn clerk(number: u32) -> Chapter {
    wait_seconds(1).await;
    say(format!("stamp {number}"));
    Chapter::Next(clerk(number + 1))
}

#[durable]
pub async fn tale(_night: u32) {
    say("Once upon a time".to_owned());
    wait_seconds(0.5).await;
    for verse in 0..10_000_u32 {
        say(format!("verse {verse}"));
        wait_seconds(0.5).await;
    }
}

#[durable]
pub async fn watchman(post: u32, lamp: Lamp) {
    loop {
        wait_seconds(1).await;
        with(move |world: &mut World| world.lamp = format!("{lamp:?} at {post}"));
    }
}

fn say(words: String) {
    with(move |world: &mut World| world.log.push(words));
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub enum Lamp {
    #[default]
    Dark,
    Bright,
}

#[derive(Default)]
pub struct Local(pub u8);

pub fn registry() -> Registry {
    Registry::new().script(clerk).script(tale).script(watchman).script(town::mayor)
}

#[cfg(feature = "live")]
framestep_live::export!(registry);
"#;

/// What follows an edit.
#[derive(Clone, Copy, Debug)]
enum Then {
    /// New code, in which all go on.
    GoOn,
    /// The program is replaced, and all go on.
    Replaced,
    /// This is told, and the earlier code goes on.
    Told(&'static str),
    /// The code does not end: it is taken back.
    TakenBack,
}

struct Evening {
    sources: Sources,
    game: Game,
    edits: u32,
    /// What was told last.
    told: String,
    scripts: String,
}

impl Evening {
    fn begin() -> Self {
        let sources = Sources::new("evening");
        sources.write(SCRIPTS, STORY);
        let start = "    runtime.start(scripts::clerk(1)).detach();\n";
        let others = "    runtime.spawn(scripts::tale(1)).detach();\n    \
                      runtime.spawn(scripts::watchman(7, scripts::Lamp::Bright)).detach();\n";
        sources.edit(MAIN, start, &format!("{start}{others}"));
        let log = "    pub log: Vec<String>,\n";
        sources.edit(WORLD, log, &format!("{log}    pub lamp: String,\n"));
        let mut game = sources.start();
        game.told("watches");
        game.frames(8);
        Evening {
            sources,
            game,
            edits: 0,
            told: String::new(),
            scripts: "3 scripts".to_owned(),
        }
    }

    /// Saves a file with another text for a part of it.
    fn edit(&mut self, what: &str, file: &str, [from, to]: [&str; 2], then: Then) {
        self.sources.edit(file, from, to);
        self.follows(what, then);
    }

    fn follows(&mut self, what: &str, then: Then) {
        self.edits += 1;
        let text = match then {
            Then::GoOn => "new code after",
            Then::Replaced => "it was built with the change",
            Then::Told(text) => text,
            Then::TakenBack => "Its scripts have the earlier code",
        };
        let before = self.told.clone();
        self.told = self.game.told_after(&before, text);
        println!(
            "{:2} {what}: {}",
            self.edits,
            self.told.replace("\\n", "\n      ")
        );
        if matches!(then, Then::GoOn | Then::Replaced) {
            let all = "0 restarted, 0 migrated, 0 dropped";
            assert!(self.told.contains(all), "something is lost");
        }
        self.goes_on();
    }

    /// Runs some frames, and looks whether all have counted on.
    fn goes_on(&mut self) {
        let log = self.game.frames(5);
        for what in ["stamp", "verse"] {
            let of_this = log.split(", ").filter(|words| words.starts_with(what));
            let count = of_this.enumerate().map(|(count, words)| {
                let number = words.rsplit(' ').next().unwrap();
                let number: usize = number.parse().unwrap();
                assert_eq!(
                    number,
                    count + usize::from(what == "stamp"),
                    "{what}: {log}"
                );
            });
            assert!(count.count() > 1, "{log}");
        }
        let [_, scripts, ..] = self.game.ask("look");
        assert_eq!(scripts, self.scripts, "without a word");
    }

    /// The processes that build in the folder of the game.
    fn builds(&self) -> usize {
        let folder = self.sources.folder.to_str().unwrap();
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let is_build = |of: &fs::DirEntry| {
            let command = fs::read_to_string(of.path().join("cmdline")).unwrap_or_default();
            let is_cargo = command.contains("rustc") || command.contains("message-format");
            is_cargo && fs::read_link(of.path().join("cwd")).is_ok_and(|it| it.starts_with(folder))
        };
        processes.filter(is_build).count()
    }
}

#[test]
#[ignore = "an evening: scripts/plays/evening"]
fn an_evening_of_sixty_edits() {
    let mut evening = Evening::begin();
    words_and_lines(&mut evening);
    what_does_not_compile(&mut evening);
    scripts_and_their_parameters(&mut evening);
    the_world_and_the_game(&mut evening);
    what_does_not_end(&mut evening);
    builds_that_are_disturbed(&mut evening);
    let last = evening.game.frames(0);
    let verses = last.matches("verse").count();
    println!(
        "{} edits, {verses} verses and {} stamps without a gap",
        evening.edits,
        last.matches("stamp").count()
    );
    assert!(evening.edits >= 60);
}

fn words_and_lines(evening: &mut Evening) {
    let words = [
        "one", "two", "three", "four", "five", "six", "seven", "eight",
    ];
    let mut before = "verse {verse}".to_owned();
    for word in words {
        let after = format!("verse {word} {{verse}}");
        evening.edit("other words", SCRIPTS, [&before, &after], Then::GoOn);
        before = after;
    }
    let verse = format!("        say(format!(\"{before}\"));\n");
    let with_comment = format!("        // The verse.\n{verse}");
    evening.edit(
        "a comment in the loop",
        SCRIPTS,
        [&verse, &with_comment],
        Then::GoOn,
    );
    evening.edit("and away", SCRIPTS, [&with_comment, &verse], Then::GoOn);
    let broken = format!("        say(\n            format!(\"{before}\"),\n        );\n");
    evening.edit("a line is broken", SCRIPTS, [&verse, &broken], Then::GoOn);
    evening.edit("and joined", SCRIPTS, [&broken, &verse], Then::GoOn);
    let once = "    say(\"Once upon a time\".to_owned());\n";
    let twice = format!("{once}    say(\"and a half\".to_owned());\n");
    evening.edit("a sentence before", SCRIPTS, [once, &twice], Then::GoOn);
    let waits = format!("{twice}    wait_seconds(3).await;\n");
    evening.edit("a wait before", SCRIPTS, [&twice, &waits], Then::GoOn);
    let without = waits.replace(&twice, once);
    evening.edit("the sentence away", SCRIPTS, [&waits, &without], Then::GoOn);
    let longer = "wait_seconds(0.25).await;\n    }";
    evening.edit(
        "a shorter wait",
        SCRIPTS,
        ["wait_seconds(0.5).await;\n    }", longer],
        Then::GoOn,
    );
    evening.edit(
        "a file with a head",
        SCRIPTS,
        ["//! The scripts", "//! All\n//! scripts"],
        Then::GoOn,
    );
    evening.edit(
        "a function moves up",
        SCRIPTS,
        [
            "#[derive(Default)]\npub",
            "pub fn shout() {}\n\n#[derive(Default)]\npub",
        ],
        Then::GoOn,
    );
}

fn what_does_not_compile(evening: &mut Evening) {
    let chapter = "clerk(number + 1)";
    for wrong in ["clerk(\"two\")", "clerk(number +)", "klerk(number + 1)"] {
        let error = Then::Told("does not compile");
        evening.edit("an error", SCRIPTS, [chapter, wrong], error);
        let stamp = ["stamp {number}", "stamp  {number}"];
        let stamp = if wrong.contains("two") {
            stamp
        } else {
            [stamp[1], stamp[0]]
        };
        let text = evening.sources.read(SCRIPTS).replace(wrong, chapter);
        let has = text.contains("stamp  ");
        let [from, to] = if has {
            ["stamp  {number}", "stamp {number}"]
        } else {
            stamp
        };
        evening.sources.write(SCRIPTS, &text.replace(from, to));
        evening.follows("mended", Then::GoOn);
    }
    let says = "    say(format!(\"stamp";
    let panics = format!("    assert!(number > 9_999, \"too early\");\n{says}");
    let early = "    wait_seconds(1).await;\n    say(format!(\"stamp";
    let at_once = early.replace(
        "    wait",
        "    assert!(number > 9_999, \"too early\");\n    wait",
    );
    evening.edit(
        "a panic at once",
        SCRIPTS,
        [early, &at_once],
        Then::Told("panics: too early"),
    );
    evening.edit("undone", SCRIPTS, [&at_once, early], Then::GoOn);
    // Later: of a script that is started for it.
    let ghost = "#[durable]\npub async fn ghost(_of: u32) {\n    wait_seconds(0.25).await;\n    panic!(\"boo\");\n}\n\nfn say(";
    evening.edit("a script", SCRIPTS, ["fn say(", ghost], Then::GoOn);
    let starts = format!("    if number % 9 == 8 {{ start(ghost(1)).detach(); }}\n{says}");
    evening.edit(
        "it is started, not registered",
        SCRIPTS,
        [says, &starts],
        Then::GoOn,
    );
    let text = is_told_in_time(evening, "is not in the registry of the latest code");
    assert!(text.contains("has panicked"), "{text}");
    evening.edit(
        "it is registered",
        SCRIPTS,
        ["(clerk)", "(clerk).script(ghost)"],
        Then::GoOn,
    );
    let text = is_told_in_time(evening, ": boo. It has ended");
    assert!(
        text.contains("`ghost`") && text.contains("after exchange"),
        "{text}"
    );
    evening.edit("it is not started", SCRIPTS, [&starts, says], Then::GoOn);
    assert!(
        !panics.is_empty() && evening.told.contains("1 ended by a panic"),
        "{}",
        evening.told
    );
}

/// Runs frames until something is told.
fn is_told_in_time(evening: &mut Evening, text: &str) -> String {
    for _ in 0..80 {
        evening.game.ask("frame");
        let [.., told] = evening.game.ask("update");
        if told.contains(text) {
            println!("   {told}");
            evening.told.clone_from(&told);
            // Whether it is there between two frames is its own affair.
            return told;
        }
    }
    panic!("{text:?} is not told");
}

fn scripts_and_their_parameters(evening: &mut Evening) {
    let before = "watchman(post: u32, lamp: Lamp)";
    let after = "watchman(post: u32, lamp: Lamp, #[serde(default)] _dog: bool)";
    evening
        .sources
        .edit(MAIN, "scripts::Lamp::Bright", "scripts::Lamp::Bright, true");
    evening.edit(
        "a parameter that the game gives",
        SCRIPTS,
        [before, after],
        Then::Replaced,
    );
    evening
        .sources
        .edit(MAIN, "scripts::Lamp::Bright, true", "scripts::Lamp::Bright");
    let lost = Then::Told("would lose `_dog`");
    evening.edit("it is removed", SCRIPTS, [after, before], lost);
    evening
        .sources
        .edit(MAIN, "scripts::Lamp::Bright", "scripts::Lamp::Bright, true");
    evening.edit(
        "it is there again",
        SCRIPTS,
        [before, after],
        Then::Replaced,
    );
    evening
        .sources
        .edit(WORLD, "//! The world", "//! All of the world");
    let variant = ["    Dark,\n", "    Dark,\n    Dim,\n"];
    evening.edit(
        "a variant, and a comment in the world",
        SCRIPTS,
        variant,
        Then::Replaced,
    );
    evening.game.frames(5);
    let text = evening.sources.read(SCRIPTS);
    evening.sources.write(
        SCRIPTS,
        &text
            .replace("watchman", "guard")
            .replace("Watchman", "Guard"),
    );
    let lost = Then::Told("`watchman` (#3) would be lost");
    evening.edit(
        "renamed, and a comment in the world",
        WORLD,
        ["//! All", "//! Everything"],
        Then::Told("does not compile"),
    );
    evening.edit(
        "also in the game",
        MAIN,
        ["scripts::watchman", "scripts::guard"],
        lost,
    );
    let named = [
        "#[durable]\npub async fn guard",
        "#[durable(name = \"watchman\")]\npub async fn guard",
    ];
    evening.edit("with its earlier name", SCRIPTS, named, Then::Replaced);
}

fn the_world_and_the_game(evening: &mut Evening) {
    let field = "    pub lamp: String,\n";
    let gold = format!("    pub gold: u64,\n{field}");
    evening.edit(
        "a field",
        WORLD,
        [field, &gold],
        Then::Told("missing field `gold`"),
    );
    let default = format!("    #[serde(default)]\n{gold}");
    evening.edit("with a default", WORLD, [&gold, &default], Then::Replaced);
    evening.edit(
        "the game greets",
        MAIN,
        ["log.push(town::GREETING", "log.insert(0, town::GREETING"],
        Then::Replaced,
    );
    evening.edit(
        "what the game says",
        TOWN,
        ["\"Good day\"", "\"Hello\""],
        Then::Replaced,
    );
    let main = "    let mut world = World::default();\n";
    let panics = format!("{main}    assert!(world.gold > 0, \"no gold\");\n");
    evening.edit(
        "the game panics",
        MAIN,
        [main, &panics],
        Then::Told("no gold"),
    );
    evening.edit("undone", MAIN, [&panics, main], Then::Replaced);
    let exits = format!("{main}    std::process::exit(3);\n");
    evening.edit(
        "it ends",
        MAIN,
        [main, &exits],
        Then::Told("has ended before its first `update_game`"),
    );
    evening.edit("undone again", MAIN, [&exits, main], Then::Replaced);
}

fn what_does_not_end(evening: &mut Evening) {
    let chapter = "    wait_seconds(1).await;\n    say(";
    let before = format!("    while number > 0 {{}}\n{chapter}");
    evening.edit(
        "a loop before the wait",
        SCRIPTS,
        [chapter, &before],
        Then::TakenBack,
    );
    evening.edit("mended", SCRIPTS, [&before, chapter], Then::GoOn);
    let behind = chapter.replace("    say", "    while number > 0 {}\n    say");
    evening.sources.edit(SCRIPTS, chapter, &behind);
    evening.edits += 1;
    evening.told = evening.game.told_after(&evening.told, "new code after");
    // It hangs in one of these frames, and no update has come since.
    let [.., told] = evening.game.ask_until_it_hangs("frame");
    println!("{:2} a loop behind the wait: {told}", evening.edits);
    evening.told = told;
    evening.goes_on();
    evening.edit("mended", SCRIPTS, [&behind, chapter], Then::GoOn);

    let ends = format!("    if number > 0 {{ std::process::abort() }}\n{chapter}");
    evening.sources.edit(SCRIPTS, chapter, &ends);
    evening.game.ends();
    evening.sources.edit(SCRIPTS, &ends, chapter);
    evening.game = evening.sources.start();
    evening.follows(
        "the process ends in the exchange, and starts again",
        Then::Told("and before it went on"),
    );
    evening.edit("it goes on", SCRIPTS, ["\"stamp", "\"stamp a"], Then::GoOn);
}

fn builds_that_are_disturbed(evening: &mut Evening) {
    for save in 0..100 {
        let text = format!("//! Save {save}.\n{}", evening.sources.read(SCRIPTS));
        evening.sources.write(SCRIPTS, &text);
    }
    evening.edit(
        "a hundred saves",
        SCRIPTS,
        ["stamp a", "stamp b"],
        Then::GoOn,
    );
    // Another save once the build has begun.
    for word in ["stamp c", "stamp d"] {
        let before = evening.sources.read(SCRIPTS);
        let at = before.find("\"stamp ").unwrap();
        evening.sources.write(
            SCRIPTS,
            &format!("{}\"{word}{}", &before[..at], &before[at + 8..]),
        );
        evening.game.builds();
        let head = format!("//! Changed.\n{}", evening.sources.read(SCRIPTS));
        evening.sources.write(SCRIPTS, &head);
        evening.follows("a save while it builds", Then::GoOn);
        let log = evening.game.frames(5);
        assert!(log.contains(word), "the last save counts: {log}");
    }
    // The game is interrupted while it builds: nothing of the build goes on.
    evening
        .sources
        .edit(WORLD, "//! Everything", "//! The last of everything");
    evening.game.builds();
    assert!(evening.builds() > 0, "it builds");
    let pid = evening.game.pid().to_string();
    let mut interrupt = Command::new("kill");
    interrupt.args(["-s", "INT", &pid]).stdin(Stdio::null());
    assert!(interrupt.status().unwrap().success());
    evening.game.has_ended();
    while evening.builds() > 0 {
        std::thread::yield_now();
    }
    evening.edits += 1;
    println!(
        "{:2} interrupted in a build: nothing builds on",
        evening.edits
    );
    evening.game = evening.sources.start();
    evening.game.told("watches");
    evening.told.clear();
    evening.game.frames(24);
    for [from, to] in [
        "stamp d", "stamp e", "stamp f", "stamp g", "stamp h", "stamp i",
    ]
    .windows(2)
    .map(|it| [it[0], it[1]])
    {
        evening.edit("the next evening", SCRIPTS, [from, to], Then::GoOn);
    }
}
