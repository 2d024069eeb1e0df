//! A game that runs while its sources are changed, with real cargo and real libraries.
//!
//! The tests take as long as cargo takes to build the game. What they wait for is told by the
//! game; the only clock is a limit after which they fail.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Sources of a game in a folder of its own.
struct Sources {
    folder: PathBuf,
}

impl Sources {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let sources = Sources { folder };
        sources.copy(
            "",
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/game"),
        );
        sources
    }

    fn copy(&self, to: &str, from: &Path) {
        fs::create_dir_all(self.folder.join(to)).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let (path, name) = entry.map(|it| (it.path(), it.file_name())).unwrap();
            let to = Path::new(to).join(name.to_str().unwrap());
            if path.is_dir() {
                self.copy(to.to_str().unwrap(), &path);
                continue;
            }
            let live = env!("CARGO_MANIFEST_DIR");
            let durable = Path::new(live).parent().unwrap().join("framestep_durable");
            let text = fs::read_to_string(&path).unwrap();
            let text = text.replace("@live@", live);
            let text = text.replace("@durable@", durable.to_str().unwrap());
            self.write(to.to_str().unwrap().trim_end_matches(".in"), &text);
        }
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.folder.join(file)).unwrap()
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.folder.join(file), text).unwrap();
    }

    /// Replaces text in a file, as the user of an editor would.
    fn edit(&self, file: &str, from: &str, to: &str) {
        let text = self.read(file);
        assert!(text.contains(from), "{file} has no {from:?}");
        self.write(file, &text.replace(from, to));
    }

    fn cargo(&self) -> Command {
        let mut command = Command::new(env!("CARGO"));
        command.current_dir(&self.folder);
        command.env("CARGO_TARGET_DIR", self.folder.join("target"));
        command
    }

    fn start(&self) -> Game {
        self.start_with("live")
    }

    fn start_with(&self, features: &str) -> Game {
        let mut command = self.cargo();
        command.args(["run", "--quiet", "--features", features]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let (to, from) = (
            process.stdin.take().unwrap(),
            process.stdout.take().unwrap(),
        );
        let mut game = Game {
            process,
            to,
            from: BufReader::new(from),
            last: String::new(),
        };
        assert_eq!(game.line(), "begins");
        game
    }
}

/// A running game.
struct Game {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    last: String,
}

impl Drop for Game {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const SCRIPTS: &str = "scripts/src/lib.rs";
const TOWN: &str = "town/src/lib.rs";
const WORLD: &str = "world/src/lib.rs";

impl Game {
    fn line(&mut self) -> String {
        let mut line = String::new();
        let read = self.from.read_line(&mut line).unwrap();
        assert!(read > 0, "the game has ended, after {}", self.last);
        line.trim_end().to_owned()
    }

    /// Asks for something. Returns the answer: the frame, the number of scripts, the log, and what
    /// is told about the sources.
    fn ask(&mut self, what: &str) -> [String; 5] {
        writeln!(self.to, "{what}").unwrap();
        let mut line = self.line();
        if line == "begins" {
            // Another program has taken its place, and has not heard the question.
            writeln!(self.to, "update").unwrap();
            line = self.line();
        }
        self.last.clone_from(&line);
        let parts: Vec<_> = line.splitn(5, " | ").map(str::to_owned).collect();
        parts.try_into().unwrap()
    }

    fn frames(&mut self, frames: u32) -> String {
        (0..frames).for_each(|_| drop(self.ask("frame")));
        let [.., log, _, _] = self.ask("look");
        log
    }

    /// Waits until something is told that contains this text.
    fn told(&mut self, text: &str) -> String {
        for _ in 0..8 {
            let [.., builds, told] = self.ask("wait");
            if builds == "false" && told.contains(text) {
                return told;
            }
        }
        panic!("{text:?} is not told, but {}", self.last);
    }
}

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
    let libraries = sources.folder.join("target/debug/framestep_live");
    assert!(fs::read_dir(&libraries).unwrap().count() >= 1);
    fs::remove_dir_all(&libraries).unwrap();
    assert!(game.frames(24).contains("sign"));
    sources.edit(SCRIPTS, "sign {number}", "pen {number}");
    game.told("1 continued");
    assert!(game.frames(6).contains("pen"));

    // Renamed.
    sources.edit(SCRIPTS, "clerk", "writer");
    sources.edit(SCRIPTS, "Clerk", "Writer");
    let told = game.told("refused");
    assert!(told.contains("`clerk` (#1) would be lost"), "{told}");
    assert!(told.contains("`#[durable(name = \"clerk\")]`"), "{told}");
    let before = game.ask("look");
    game.ask("accept");
    let [_, scripts, _, _, told] = game.ask("update");
    assert_eq!((&*before[1], &*scripts), ("1 scripts", "0 scripts"));
    assert!(told.contains("0 continued, 1 dropped"), "{told}");

    // A type of the scripts is lent.
    game.ask("lend");
    sources.edit(SCRIPTS, "pen {number}", "ink {number}");
    let told = game.told("refused");
    assert!(
        told.contains("the type `scripts::Local`, which the game lends to scripts"),
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
    game.told("1 continued");
    assert_eq!(game.frames(4), "stamp 1, stamp 2, seal 3");

    // The earlier world does not fit the new one, until it has a default.
    sources.edit(WORLD, field, &format!("    pub guests: u8,\n{field}"));
    let told = game.told("begins from the start");
    assert!(told.contains("missing field `guests`"), "{told}");
    assert_eq!(game.frames(0), "");
    sources.edit(
        WORLD,
        "    pub guests",
        "    #[serde(default)]\n    pub guests",
    );
    let told = game.told("the new program goes on");
    assert!(told.contains("at frame 12"), "{told}");
    assert_eq!(game.frames(4), "stamp 1, stamp 2, seal 3, seal 4");

    // Code of the game itself.
    sources.edit(
        "src/main.rs",
        "| {scripts} scripts |",
        "| {scripts} of them |",
    );
    game.told("at frame 16");
    assert_eq!(game.ask("look")[1], "1 of them");

    // Scripts in a further package change like the others.
    game.ask("elect");
    assert!(game.frames(4).ends_with("seal 5, speech 1"));
    sources.edit(TOWN, "speech {number}", "song {number}");
    let told = game.told("new code");
    assert!(told.contains("2 continued"), "{told}");
    assert!(game.frames(4).ends_with("seal 6, song 2"));
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
            let with = format!(".with::<Actor{actor}>().with::<Note{actor}>()");
            scripts = scripts.replace(".with::<Clerk>()", &format!(".with::<Clerk>(){with}"));
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
