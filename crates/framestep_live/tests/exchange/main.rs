//! A game that runs while its sources are changed, with real cargo and real libraries.
//!
//! The tests take as long as cargo takes to build the game. What they wait for is told by the
//! game; the only clock is a limit after which they fail.

mod evening;
mod sources;

use std::fs;
use std::path::Path;

use crate::sources::{Game, MAIN, SCRIPTS, Sources, TOWN, WORLD};

#[test]
fn a_game_goes_on_while_its_sources_change() {
    let sources = Sources::new("changes");
    let mut game = sources.start();
    game.told("watches");
    assert_eq!(game.frames(3), "");

    // Other words, further down in the file.
    sources.edit(
        SCRIPTS,
        "use framestep_durable",
        "// A line.\n\nuse framestep_durable",
    );
    game.told("1 continued at moved lines");
    sources.edit(SCRIPTS, "stamp {number}", "seal {number}");
    game.told("1 continued");
    assert_eq!(game.frames(1), "seal 1");

    // Code that does not compile.
    sources.edit(SCRIPTS, "clerk(number + 1)", "clerk(\"two\")");
    let told = game.told("does not compile");
    assert!(told.contains("error[E0308]: mismatched types") && told.contains(SCRIPTS));
    assert_eq!(game.frames(4), "seal 1, seal 2");

    // Mended, with another wait before that in which the script is: it is passed, and holds from the next chapter on.
    sources.edit(SCRIPTS, "clerk(\"two\")", "clerk(number + 1)");
    sources.edit(
        SCRIPTS,
        "    wait_seconds(1)",
        "    next_frame().await;\n    wait_seconds(1)",
    );
    game.told("1 continued at moved lines");
    assert_eq!(game.frames(3), "seal 1, seal 2");
    assert_eq!(game.frames(1), "seal 1, seal 2, seal 3");

    // Code that panics at once.
    sources.edit(
        SCRIPTS,
        "    next_frame()",
        "    assert!(number > 9, \"too early\");\n    next_frame()",
    );
    let told = game.told("refused");
    assert!(
        told.contains("the new code of `clerk` (#1) panics: too early"),
        "{told}"
    );

    // Many saves, one after the other, of which the last one counts.
    sources.edit(SCRIPTS, "assert!(number > 9, \"too early\");", "");
    for save in 0..200 {
        let (from, to) = (
            format!("// A line.{}", "!".repeat(save)),
            format!("// A line.{}", "!".repeat(save + 1)),
        );
        sources.edit(SCRIPTS, &from, &to);
    }
    sources.edit(SCRIPTS, "seal {number}", "sign {number}");
    game.told("1 continued");
    for _ in 0..10 {
        if game.frames(6).contains("sign") {
            break;
        }
        game.ask("wait");
    }
    assert!(game.last.contains("sign"));

    // The libraries are deleted meanwhile: those in use are loaded.
    let processes = sources.folder.join("target/debug/framestep_live");
    let libraries = processes.join(game.pid().to_string());
    assert!(fs::read_dir(&libraries).unwrap().count() >= 1);
    fs::remove_dir_all(&libraries).unwrap();
    assert!(game.frames(24).contains("sign"));
    sources.edit(SCRIPTS, "sign {number}", "pen {number}");
    game.told("1 continued");
    assert!(game.frames(6).contains("pen"));

    scripts_are_not_lost_without_a_word(&sources, &mut game);
    code_that_does_not_end_is_taken_back(&sources, &mut game);

    // A type of the scripts is lent.
    game.ask("lend");
    sources.edit(SCRIPTS, "pen {number}", "ink {number}");
    let told = game.told("refused");
    assert!(
        told.contains("the type `scripts::Local`, which the game lends to scripts"),
        "{told}"
    );
}

fn scripts_are_not_lost_without_a_word(sources: &Sources, game: &mut Game) {
    // Another script, which the game does not name. It is not registered at first.
    let errand = "#[durable]\npub async fn errand(_goods: u32, _way: u32) {\n    for _ in 0..9 {\n        \
                  wait_seconds(100).await;\n    }\n}\n\n/// A type";
    sources.edit(SCRIPTS, "/// A type", errand);
    let next = "    Chapter::Next";
    let starts = format!("    start(errand(3, 4)).detach();\n{next}");
    sources.edit(SCRIPTS, next, &starts);
    sources.edit(SCRIPTS, "(clerk)", "(clerk).script(errand)");
    game.told("1 continued");
    game.frames(5);
    assert_eq!(game.ask("look")[1], "2 scripts");
    sources.edit(SCRIPTS, &starts, next);
    game.told("2 continued");
    // A comment in its loop.
    sources.edit(SCRIPTS, "0..9 {\n", "0..9 {\n        // Far away.\n");
    let told = game.told("2 continued");
    let balance = "balance: 2 continued, 0 restarted, 0 migrated, 0 dropped, 0 ended by a panic";
    assert!(told.contains(balance), "{told}");
    // A parameter is removed, and it is there again.
    sources.edit(SCRIPTS, "goods: u32, _way: u32", "goods: u32");
    let told = game.told("refused");
    assert!(told.contains("`errand` (#2) would lose `_way`"), "{told}");
    sources.edit(SCRIPTS, "goods: u32", "goods: u32, _way: u32");
    game.told("2 continued");

    // Renamed.
    sources.edit(SCRIPTS, "errand", "walk");
    let told = game.told("refused");
    assert!(told.contains("`errand` (#2) would be lost"), "{told}");
    assert!(told.contains("`#[durable(name = \"errand\")]`"), "{told}");
    let before = game.ask("look");
    game.ask("accept");
    let [_, scripts, _, _, told] = game.ask("update");
    assert_eq!((&*before[1], &*scripts), ("2 scripts", "1 scripts"));
    assert!(told.contains("1 continued, 1 dropped"), "{told}");
}

fn code_that_does_not_end_is_taken_back(sources: &Sources, game: &mut Game) {
    // Code that does not come to its end: before the place where the script waits.
    game.frames(5);
    let [frame, _, log, ..] = game.ask("look");
    let wait = "    next_frame()";
    let hangs = format!("    while number > 0 {{}}\n{wait}");
    sources.edit(SCRIPTS, wait, &hangs);
    let told = game.told("new code has not come to its end");
    assert!(
        told.contains(", `clerk` (#1) in or after scripts/src/lib.rs:"),
        "{told}"
    );
    assert!(told.contains("Its scripts have the earlier code"), "{told}");
    let [frame_now, _, log_now, ..] = game.ask("look");
    assert_eq!((frame, &log), (frame_now, &log_now));
    assert!(game.frames(5).len() > log.len(), "the earlier code goes on");
    assert!(game.last.contains("pen"));
    sources.edit(SCRIPTS, &hangs, wait);
    game.told("new code after");

    // Behind it, in a later frame. It goes on where it was before the exchange once it is mended.
    game.frames(5);
    let stamps = "    with(move |world";
    let hangs = format!("    while number > 0 {{}}\n{stamps}");
    sources.edit(SCRIPTS, stamps, &hangs);
    game.told("1 continued");
    let [frame, _, log, ..] = game.ask("update");
    sources.edit(SCRIPTS, &hangs, stamps);
    let [frame_now, _, log_now, _, told] = game.ask_until_it_hangs("frame");
    assert!(told.contains("new code has not come to its end"), "{told}");
    assert_eq!((frame, log), (frame_now, log_now));
    game.told("new code after");

    // A panic in a later frame.
    sources.edit(
        SCRIPTS,
        stamps,
        &format!("    assert!(number == 0, \"no ink\");\n{stamps}"),
    );
    game.told("1 continued");
    game.frames(5);
    let [_, scripts, _, _, told] = game.ask("update");
    assert_eq!(scripts, "0 scripts");
    assert!(
        told.contains("`clerk` (#1) has panicked at scripts/src/lib.rs:"),
        "{told}"
    );
    assert!(
        told.contains("frames after exchange") && told.contains(": no ink. It has ended"),
        "{told}"
    );
}

#[test]
fn a_game_whose_world_changes_is_replaced_and_goes_on_at_the_same_frame() {
    let sources = Sources::new("replaced");
    let mut game = sources.start();
    game.told("watches");
    assert_eq!(game.frames(7), "stamp 1");

    let field = "    pub log: Vec<String>,\n";
    let with_default = format!("    #[serde(default)]\n    pub gold: u64,\n{field}");
    sources.edit(WORLD, field, &with_default);
    let told = game.told("the new program goes on");
    assert!(
        told.contains("the new program goes on at frame 7"),
        "{told}"
    );
    assert_eq!(game.frames(1), "stamp 1, stamp 2");

    // The new program changes its scripts as the first one did.
    sources.edit(SCRIPTS, "stamp {number}", "seal {number}");
    game.told("new code after");
    assert_eq!(game.frames(4), "stamp 1, stamp 2, seal 3");

    // The earlier world does not fit the new one, until it has a default.
    sources.edit(WORLD, field, &format!("    pub guests: u8,\n{field}"));
    let told = game.told("refused");
    assert!(told.contains("missing field `guests`"), "{told}");
    assert_eq!(game.frames(0), "stamp 1, stamp 2, seal 3");
    sources.edit(
        WORLD,
        "    pub guests",
        "    #[serde(default)]\n    pub guests",
    );
    let told = game.told("the new program goes on");
    assert!(told.contains("at frame 12"), "{told}");
    assert_eq!(game.frames(4), "stamp 1, stamp 2, seal 3, seal 4");

    // A program that panics before it goes on.
    let main = "    let mut world = World::default();\n";
    let panics = format!("{main}    assert!(world.guests > 0, \"no guests\");\n");
    sources.edit(MAIN, main, &panics);
    let told = game.told("refused");
    assert!(
        told.contains("has ended before its first `update_game`") && told.contains("no guests"),
        "{told}"
    );
    sources.edit(MAIN, &panics, main);

    // Code of the game itself.
    sources.edit(MAIN, "| {scripts} scripts |", "| {scripts} of them |");
    game.told("at frame 16");
    assert_eq!(game.ask("look")[1], "1 of them");

    // Scripts in a further package change like the others.
    game.ask("elect");
    assert!(game.frames(4).ends_with("seal 5, speech 1 for Much"));
    sources.edit(TOWN, "speech {number}", "song {number}");
    let told = game.told("new code after");
    assert!(told.contains("2 continued"), "{told}");
    assert!(game.frames(4).ends_with("seal 6, song 2 for Much"));

    // A constant that the game itself uses; and a variant before that which the mayor has, in one checkout.
    game.ask("greet");
    sources.edit(TOWN, "\"Good day\"", "\"Hello\"");
    sources.edit(TOWN, "    Much,", "    Some,\n    Much,");
    let told = game.told("the new program goes on");
    assert!(
        told.contains("balance: 2 continued, 0 restarted, 0 migrated, 0 dropped"),
        "{told}"
    );
    game.ask("greet");
    let log = game.frames(4);
    assert!(
        log.contains("Good day, Hello") && log.ends_with("seal 7, song 3 for Much"),
        "{log}"
    );

    // A script is renamed and a comment is in the world: the game that runs is asked as without the comment.
    let of_clerk = [
        sources.read(SCRIPTS),
        sources.read(MAIN),
        sources.read(WORLD),
    ];
    sources.edit(SCRIPTS, "clerk", "writer");
    sources.edit(MAIN, "clerk", "writer");
    sources.write(WORLD, &format!("// The world.\n{}", of_clerk[2]));
    let told = game.told("refused");
    assert!(told.contains("`clerk` (#1) would be lost"), "{told}");
    assert!(
        game.frames(4).ends_with("seal 8, song 4 for Much"),
        "{told}"
    );
    let [_, scripts, ..] = game.ask("look");
    assert_eq!(scripts, "2 of them");
    game.ask("accept");
    let told = game.told("the new program goes on");
    let [_, scripts, ..] = game.ask("look");
    assert!(
        told.contains("1 continued, 0 restarted, 0 migrated, 1 dropped"),
        "{told}"
    );
    assert_eq!(scripts, "1 of them");

    // The process ends in the middle of an exchange, and is started again.
    let log = game.frames(4);
    assert!(log.ends_with("song 5 for Much"), "{log}");
    let wait = "    wait_seconds(1)";
    let ends = format!("    if number > 0 {{ std::process::abort() }}\n{wait}");
    sources.edit(TOWN, wait, &ends);
    game.ends();
    sources.edit(TOWN, &ends, wait);
    let mut game = sources.start();
    let told = game.told("the new program goes on");
    assert!(told.contains("and before it went on"), "{told}");
    assert_eq!(game.frames(0), log);
}

#[test]
fn another_copy_of_framestep_is_refused() {
    // The game has other features than it says: cargo builds its crates a second time.
    let sources = Sources::new("copies");
    let mut game = sources.start_with("live,more");
    let told = game.told("in another way");
    assert!(
        told.contains("`cargo build --message-format json -p game --bin game --features live`")
            && told.contains("builds the crate `")
            && told.contains("` in another way than the running game was built: name its features"),
        "{told}"
    );
    assert_eq!(game.frames(5), "stamp 1", "the game goes on");

    // A library with a framestep of its own, and one that was built for another version.
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let durable = here.join("../framestep_durable");
    let toml = fs::read_to_string(here.join("Cargo.toml")).unwrap();
    let toml = toml.replace(
        "\"../framestep_durable\"",
        &format!("{:?}", durable.to_str().unwrap()),
    );
    // Cargo knows two packages of one name by their versions.
    let later = toml.replace("version = \"0.1.0\"\n", "version = \"0.2.0\"\n");
    let own = later.replace("[\"dylib\"]", "[\"rlib\"]");
    assert!(later != toml && own != later);
    let other_live = Sources {
        folder: sources.folder.with_file_name("other-live"),
    };
    other_live.copy("src", &here.join("src"));
    let other = Sources::new("other-copy");
    let toml = other.read("scripts/Cargo.toml");
    let toml = toml.replace(env!("CARGO_MANIFEST_DIR"), "../../other-live");
    other.write("scripts/Cargo.toml", &toml);
    for (name, toml) in [("own", own), ("later", later)] {
        other_live.write("Cargo.toml", &toml);
        let mut command = other.cargo();
        command.args(["build", "--quiet", "-p", "scripts", "--features", "live"]);
        assert!(command.status().unwrap().success());
        let built = format!(
            "{}scripts{}",
            std::env::consts::DLL_PREFIX,
            std::env::consts::DLL_SUFFIX
        );
        let library = other.folder.join(name);
        fs::copy(other.folder.join("target/debug").join(built), &library).unwrap();
        let [.., told] = game.ask(&format!("load {}", library.display()));
        assert!(
            told.contains("(not loaded: the scripts use another copy of framestep than the game: "),
            "{told}"
        );
    }
    assert_eq!(game.frames(4), "stamp 1, stamp 2");
}

#[test]
fn a_release_with_the_feature_does_not_compile_and_says_why() {
    let sources = Sources::new("release");
    let mut command = sources.cargo();
    let done = command
        .args(["check", "--release", "--features", "live"])
        .output()
        .unwrap();
    assert!(!done.status.success());
    let words = String::from_utf8(done.stderr).unwrap();
    assert!(
        words.contains("`framestep_live` is for development"),
        "{words}"
    );
    // Without it, nothing of framestep_live is built.
    let mut command = sources.cargo();
    let done = command
        .args(["tree", "--edges", "normal"])
        .output()
        .unwrap();
    let tree = String::from_utf8(done.stdout).unwrap();
    assert!(
        tree.contains("framestep_durable") && !tree.contains("framestep_live"),
        "{tree}"
    );
}

/// A script of the kind that games have: waits, effects, a `select!`, an animation, a child.
const TYPICAL: &str = r#"
#[durable]
pub async fn actor_@(number: u32, mood: u8) -> Chapter {
    let luck = with(move |world: &mut World| {
        world.log.truncate(20);
        world.log.push(format!("actor @ {number} {mood}"));
        u8::try_from(world.log.len() % 5).unwrap_or(0)
    });
    let heard = select! {
        rung = BELL.wait() => {
            wait_seconds(0.1 * f64::from(luck)).await;
            rung
        }
        _ = wait_seconds(2) => 0,
    };
    if heard > 3 {
        for blink in 0..3_u32 {
            with(move |world: &mut World| world.log.push(format!("blink {blink}")));
            wait_frames(4).await;
        }
    }
    animate(0.5, move |t| with(|world: &mut World| {
        if t > 0.5 {
            world.log.truncate(10);
        }
    }))
    .await;
    if timeout(1, BELL.wait()).await.is_ok() {
        start(note_@(number)).detach();
    }
    Chapter::Next(actor_@(number + 1, luck))
}

#[durable]
pub async fn note_@(number: u32) {
    wait_seconds(0.2).await;
    with(move |world: &mut World| world.log.push(format!("note {number}")));
}
"#;

/// Moves the modules of the scripts to ten packages of their own. Returns one of their files.
fn split(sources: &Sources) -> String {
    let scripts = sources.read(SCRIPTS);
    let mut modules: Vec<&str> = scripts.split("\npub use actor_").collect();
    let head = modules.remove(0);
    let (mut uses, mut depends, mut members) = (Vec::new(), Vec::new(), Vec::new());
    let names: Vec<_> = (0..10).map(|part| format!("part{part}")).collect();
    for (name, modules) in names.iter().zip(modules.chunks(modules.len() / 10)) {
        let bell = "const BELL: Signal<u32> = Signal::new(\"bell\");\n";
        let mut lib = format!("use framestep_durable::prelude::*;\nuse world::World;\n{bell}");
        for module in modules {
            lib.push_str("\npub use actor_");
            lib.push_str(module);
        }
        fs::create_dir_all(sources.folder.join(name).join("src")).unwrap();
        sources.write(&format!("{name}/src/lib.rs"), &lib);
        let toml = sources.read("town/Cargo.toml");
        sources.write(
            &format!("{name}/Cargo.toml"),
            &toml.replace("\"town\"", &format!("{name:?}")),
        );
        uses.push(format!("pub use {name}::*;\n"));
        depends.push(format!("{name} = {{ path = \"../{name}\" }}\n"));
        members.push(format!("{name:?}, "));
    }
    let (uses, depends, members) = (uses.concat(), depends.concat(), members.concat());
    let head = head.replace("pub const BELL", "const _BELL");
    sources.write(SCRIPTS, &format!("{head}\n{uses}"));
    let toml = sources.read("scripts/Cargo.toml");
    sources.write("scripts/Cargo.toml", &format!("{toml}{depends}"));
    sources.edit(
        "Cargo.toml",
        "[\"scripts\", ",
        &format!("[\"scripts\", {members}"),
    );
    sources.edit(
        "src/main.rs",
        "[\"town\"]",
        &format!("[\"town\", {members}]"),
    );
    format!("{}/src/lib.rs", names[3])
}

/// Prints how long it takes from the save of a file until all scripts run in the new code.
///
/// `cargo test --test exchange edit_to_running -- --ignored --nocapture`
#[test]
#[ignore = "measures; for a machine at rest"]
fn edit_to_running() {
    for (types, in_parts) in [(6, false), (100, true), (100, false)] {
        let name = if in_parts { "parts" } else { "types" };
        let sources = Sources::new(&format!("{name}-{types}"));
        let mut scripts = sources.read(SCRIPTS);
        scripts = scripts.replace(
            "pub fn registry",
            "pub const BELL: Signal<u32> = Signal::new(\"bell\");\n\npub fn registry",
        );
        let mut starts = Vec::new();
        // Two types each.
        for actor in 0..types / 2 {
            // A module each: a change builds the code of its module.
            let of_actor = TYPICAL.replace('@', &actor.to_string());
            let head = format!("\npub use actor_{actor}::*;\nmod actor_{actor} {{\nuse super::*;");
            scripts.extend([&*head, &of_actor, "}\n"]);
            let with = format!(".script(actor_{actor}).script(note_{actor})");
            scripts = scripts.replace(".script(clerk)", &format!(".script(clerk){with}"));
            starts.push(format!(
                "runtime.start(scripts::actor_{actor}(0, 0)).detach();"
            ));
        }
        sources.write(SCRIPTS, &scripts);
        let mut edited = SCRIPTS.to_owned();
        if in_parts {
            edited = split(&sources);
            scripts = sources.read(&edited);
        }
        let start = "    runtime.start(scripts::clerk(1)).detach();\n";
        let starts = starts.concat();
        let lend = format!("{start}    runtime.lend(&mut world, |runtime| {{ {starts} }});\n");
        sources.edit("src/main.rs", start, &lend);
        let mut game = sources.start();
        game.told("watches");
        game.frames(2);
        let lines = scripts.lines().count();
        println!(
            "{} types, the package of the change has {lines} lines:",
            types + 1
        );
        for edit in 0..12 {
            let from = if in_parts { "\"note " } else { "\"stamp " };
            let changed = scripts.replacen(from, &format!("{from}{edit}: "), 1);
            sources.write(&edited, &changed);
            let told = game.told(&format!("{} continued", types / 2 + 1));
            // The first one also builds what the game has built before.
            println!("  {told}");
        }
    }
}
