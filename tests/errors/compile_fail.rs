//! Misuse that the compiler rejects.
//!
//! The compiler's message is compared with the `.stderr` file of each case;
//! `FRAMESTEP_BLESS=1` updates the files. The cases are chosen so that the message names
//! no private types. A test in `handles` checks that executors and handles are not `Send`,
//! because that message would list them.

use std::fs;
use std::path::Path;

use framestep_testkit::misuse::Misuse;

fn root() -> &'static Path {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().unwrap()
}

#[test]
fn misuse_does_not_compile() {
    let misuse = Misuse {
        root: root(),
        cases: "tests/compile_fail",
        library: "framestep",
        built_for: &["--example", "hello"],
        scratch: Path::new(env!("CARGO_TARGET_TMPDIR")),
        errors: usize::MAX,
    };
    misuse.check(30);
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
