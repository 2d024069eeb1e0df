//! Misuse that the compiler rejects.
//!
//! The compiler's message is compared with the `.stderr` file of each case;
//! `FRAMESTEP_BLESS=1` updates the files. The cases are chosen so that the message names
//! no private types. A test in `handles` checks that executors and handles are not `Send`,
//! because that message would list them.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Paths in the compiler's messages are relative to this.
fn root() -> &'static Path {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().unwrap()
}

fn program(variable: &str, name: &str) -> Command {
    let program = env::var_os(variable).unwrap_or_else(|| OsString::from(name));
    let mut command = Command::new(program);
    command.current_dir(root()).stderr(Stdio::piped());
    command
}

/// The library that the tests are linked with, in the form that the compiler needs. An
/// example has the same features as the tests, so that nothing extra is built.
fn library() -> PathBuf {
    let output = program("CARGO", "cargo")
        .args(["build", "--example", "hello", "--message-format", "json"])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let messages = String::from_utf8(output.stdout).unwrap();
    let of_library = |name: &&str| name.contains("libframestep-") && name.contains(".rmeta");
    let name = messages.split('"').find(of_library);
    name.expect("cargo names it").into()
}

fn compile(case: &Path, library: &Path) -> Child {
    // A file of its own: as root, the compiler replaces the one it is given, `/dev/null` too.
    let metadata = Path::new(env!("CARGO_TARGET_TMPDIR")).join(case.file_name().unwrap());
    program("RUSTC", "rustc")
        .args(["--edition=2024", "--crate-type=bin", "--emit=metadata"])
        .arg("-o")
        .arg(metadata.with_extension("rmeta"))
        .arg("-L")
        .arg(format!(
            "dependency={}",
            library.parent().unwrap().display()
        ))
        .arg("--extern")
        .arg(format!("framestep={}", library.display()))
        .arg(case)
        .spawn()
        .unwrap()
}

/// The compiler's message, without the parts that unrelated changes affect: the line
/// numbers of the crate's source, and the indentation that depends on them.
fn normalized(said: &str) -> String {
    let mut normalized: Vec<String> = Vec::new();
    let mut in_the_crate = false;
    for line in said.lines() {
        if line.starts_with("error: aborting") || line.starts_with("For more information") {
            break;
        }
        let text = line.trim_start();
        let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
        let number = &text[..text.len() - rest.len()];
        let rest = rest.trim_start();
        if rest.starts_with("--> ") || rest.starts_with("::: ") {
            in_the_crate = rest[4..].starts_with("src/");
            let path = &rest[..rest.find(".rs").map_or(rest.len(), |at| at + 3)];
            let place = if in_the_crate { path } else { rest };
            normalized.push(format!("    {place}"));
        } else if rest.starts_with('|') || rest.starts_with("= ") {
            let number = if in_the_crate { "" } else { number };
            normalized.push(format!("{number:>4} {rest}"));
        } else if text.len() < line.len() {
            normalized.push(format!("{:12} {text}", ""));
        } else {
            in_the_crate = false;
            normalized.push(line.to_owned());
        }
    }
    normalized.join("\n").trim_end().to_owned() + "\n"
}

#[test]
fn misuse_does_not_compile() {
    let mut cases: Vec<PathBuf> = fs::read_dir(root().join("tests/compile_fail"))
        .unwrap()
        .map(|entry| Path::new("tests/compile_fail").join(entry.unwrap().file_name()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "rs"))
        .collect();
    cases.sort();
    assert!(cases.len() > 30, "only {} cases", cases.len());
    let library = library();
    let mut wrong = Vec::new();
    for some in cases.chunks(4) {
        let compilers: Vec<Child> = some.iter().map(|case| compile(case, &library)).collect();
        for (case, compiler) in some.iter().zip(compilers) {
            let output = compiler.wait_with_output().unwrap();
            let said = normalized(&String::from_utf8(output.stderr).unwrap());
            assert!(!output.status.success(), "{} compiles", case.display());
            let expected = root().join(case).with_extension("stderr");
            if env::var_os("FRAMESTEP_BLESS").is_some() {
                fs::write(expected, said).unwrap();
            } else if fs::read_to_string(expected).unwrap_or_default() != said {
                wrong.push(format!("{}\n{said}", case.display()));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "the compiler says something else, or nothing is written down, of\n{}",
        wrong.join("\n")
    );
}

/// The page quotes the compiler, shortened: `..` stands for omitted text.
#[test]
fn the_page_about_compiler_errors_quotes_the_compiler() {
    let mut said = String::new();
    for entry in fs::read_dir(root().join("tests/compile_fail")).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|extension| extension == "stderr")
        {
            said += &fs::read_to_string(path).unwrap();
        }
    }
    let page = fs::read_to_string(root().join("docs/guide/compiler.md")).unwrap();
    let mut quotes = 0;
    for line in page.lines().filter(|line| line.starts_with("error")) {
        // It has no case, because the compiler lists the implementors of this trait.
        if line.contains("FusedFuture") {
            continue;
        }
        quotes += 1;
        let is_said = said.lines().any(|said| {
            let mut rest = said;
            line.split("..").all(|part| {
                let found = rest.split_once(part);
                rest = found.map_or(rest, |(_, after)| after);
                found.is_some()
            })
        });
        assert!(is_said, "the compiler does not say `{line}`");
    }
    assert!(quotes > 8, "found {quotes} quotes");
}
