//! Misuse that the compiler refuses.
//!
//! trybuild compares the compiler's words. These cases are chosen so that the
//! words speak of the case alone; that executors and handles are not `Send`,
//! where the compiler would list private types, is a test of `handles`.

use std::fs;
use std::path::Path;

#[test]
fn misuse_does_not_compile() {
    trybuild::TestCases::new().compile_fail("compile_fail/*.rs");
}

/// The page quotes the compiler, shortened: `..` stands for what is left out.
#[test]
fn the_page_about_compiler_errors_quotes_the_compiler() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut said = String::new();
    for entry in fs::read_dir(tests.join("compile_fail")).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|extension| extension == "stderr")
        {
            said += &fs::read_to_string(path).unwrap();
        }
    }
    let page = fs::read_to_string(tests.join("../docs/guide/compiler.md")).unwrap();
    let mut quotes = 0;
    for line in page.lines().filter(|line| line.starts_with("error")) {
        // Has no case, since the compiler lists implementors of this trait.
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
