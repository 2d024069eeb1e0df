//! README.md, the guide and the other documents: their links work, the code of each page
//! is tested, and tests cite each rule of the timing contract.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use framestep::Phase;
use framestep_testkit::exports;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .canonicalize()
        .unwrap()
}

/// All files below a folder with names that end like this, except in hidden folders and
/// in those of builds.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if name != "target" && !name.starts_with('.') {
                found.extend(files(&path, ending));
            }
        } else if name.ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// All pages, except one: rustdoc checks the links of the page of a module.
fn documents() -> Vec<PathBuf> {
    let of_a_module = root().join("crates/bevy_framestep/docs/durable.md");
    let mut documents = files(&root(), ".md");
    documents.retain(|document| *document != of_a_module);
    documents
}

/// The lines that are not code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut code = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        !code && !fence
    })
}

/// The text between each `](` and the next `)`, and after each `[..]: ` that begins a line.
fn links(text: &str) -> Vec<String> {
    let mut links = Vec::new();
    for line in prose(text) {
        for rest in line.split("](").skip(1) {
            if let Some((link, _)) = rest.split_once(')') {
                links.push(link.to_owned());
            }
        }
        let definition = line
            .strip_prefix('[')
            .and_then(|line| line.split_once("]: "));
        links.extend(definition.map(|(_, link)| link.to_owned()));
    }
    links
}

/// The anchors that a page defines: `<a id="..">`.
fn named_anchors(text: &str) -> Vec<String> {
    let starts = prose(text).flat_map(|line| line.split("<a id=\"").skip(1));
    starts
        .map(|rest| rest.split('"').next().unwrap().to_owned())
        .collect()
}

/// The anchors that a link can use: those that the page defines, and those that GitHub
/// makes from headings.
fn anchors(text: &str) -> HashSet<String> {
    let mut anchors: HashSet<String> = named_anchors(text).into_iter().collect();
    for line in prose(text).filter(|line| line.starts_with('#')) {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let anchor: String = title
            .chars()
            .filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        // The second heading with the same title gets a number.
        let numbered = (1..).map(|number| format!("{anchor}-{number}"));
        let mut names = std::iter::once(anchor.clone()).chain(numbered);
        anchors.insert(names.find(|name| !anchors.contains(name)).unwrap());
    }
    anchors
}

/// The anchors of the timing contract that a source file cites.
fn citations(source: &str) -> Vec<String> {
    let page = concat!("docs/contract.md", "#");
    let is_part = |c: &char| c.is_ascii_alphanumeric() || *c == '-';
    let cited = source.split(page).skip(1);
    cited
        .map(|rest| rest.chars().take_while(is_part).collect())
        .collect()
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut checked = 0;
    let mut broken = Vec::new();
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        for link in links(&text) {
            if link.contains("://") {
                continue;
            }
            checked += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if path.is_empty() {
                document.clone()
            } else {
                document.parent().unwrap().join(path)
            };
            let found = target.exists()
                && (anchor.is_empty()
                    || anchors(&fs::read_to_string(&target).unwrap()).contains(anchor));
            if !found {
                broken.push(format!("{}: {link}", document.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
    assert!(checked > 300, "only {checked} links");
}

#[test]
fn tests_and_the_timing_contract_refer_to_each_other() {
    let contract = fs::read_to_string(root().join("docs/contract.md")).unwrap();
    let anchors = named_anchors(&contract);
    let mut cited = HashSet::new();
    for folder in ["src", "tests"] {
        for file in files(&root().join(folder), ".rs") {
            for anchor in citations(&fs::read_to_string(&file).unwrap()) {
                let exists = anchors.contains(&anchor);
                assert!(exists, "{}: no anchor `{anchor}`", file.display());
                // A citation in `src` proves nothing.
                if folder == "tests" {
                    cited.insert(anchor);
                }
            }
        }
    }
    let mut seen = HashSet::new();
    for anchor in &anchors {
        assert!(seen.insert(anchor), "`{anchor}` is there twice");
        assert!(cited.contains(anchor), "no test cites `{anchor}`");
    }
    assert!(anchors.len() > 90, "only {} anchors", anchors.len());
}

#[test]
fn the_code_of_each_page_of_the_guide_is_tested() {
    // The pages about a package are tested with it.
    let lists = [
        "tests/guide.rs",
        "crates/framestep_durable/src/lib.rs",
        "crates/framestep_timeline/src/lib.rs",
        "crates/bevy_framestep/docs/pages/src/lib.rs",
        "crates/framestep_live/src/lib.rs",
        "crates/framestep_rooms/src/lib.rs",
    ];
    let tested = lists.map(|list| fs::read_to_string(root().join(list)).unwrap());
    let guide = root().join("docs/guide");
    for page in files(&guide, ".md") {
        let page = page.strip_prefix(root()).unwrap();
        let path = format!("../{}\"", page.display());
        assert!(
            tested.iter().any(|list| list.contains(&path)),
            "{} is missing in tests/guide.rs",
            page.display()
        );
    }
}

/// Code without white space, and without the commas that a line of its own leads to.
fn squeeze(code: &str) -> String {
    let code: String = code.split_whitespace().collect();
    code.replace(",}", "}").replace(",)", ")")
}

/// Code that needs an engine is part of an example, which CI compiles. The comment
/// `<!-- from PATH -->` above it names the file.
#[test]
fn code_that_is_taken_from_an_example_is_that_of_the_example() {
    let mut checked = 0;
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        for piece in text.split("\n<!-- from ").skip(1) {
            let (path, rest) = piece.split_once(" -->").unwrap();
            let code = rest.split("```").nth(1).unwrap();
            let code = squeeze(code.split_once('\n').unwrap().1);
            let example = document.parent().unwrap().join(path);
            let example = squeeze(&fs::read_to_string(&example).unwrap());
            assert!(example.contains(&code), "{}: {path}", document.display());
            checked += 1;
        }
    }
    assert_eq!(checked, 6);
}

/// They are parts of a program, which is the module `first_game`.
#[test]
fn the_pieces_of_the_first_game_are_tested() {
    let program = fs::read_to_string(root().join("tests/hosts/first_game.rs")).unwrap();
    let program = squeeze(&program);
    let page = fs::read_to_string(root().join("docs/guide/first-game.md")).unwrap();
    // Those in a window are taken from an example.
    let (page, _) = page.split_once("<!-- from ").unwrap();
    let pieces: Vec<&str> = page.split("```rs\n").skip(1).collect();
    assert_eq!(pieces.len(), 4);
    for piece in pieces {
        let piece = piece.split("```").next().unwrap();
        assert!(program.contains(&squeeze(piece)), "{piece}");
    }
}

#[test]
fn each_diagram_of_a_frame_has_all_phases_in_their_order() {
    let phases = Phase::NAMED.map(|phase| phase.to_string());
    for path in ["docs/contract.md", "src/lib.rs", "docs/guide/time.md"] {
        let text = fs::read_to_string(root().join(path)).unwrap();
        let mut blocks = text.split("```").filter(|code| code.starts_with("text"));
        let diagram = blocks.find(|code| code.contains("begin_frame(dt)"));
        let words = diagram.expect(path).split(|c: char| !c.is_alphanumeric());
        let drawn: Vec<&str> = words
            .filter(|word| phases.iter().any(|phase| phase == word))
            .collect();
        assert_eq!(drawn, phases, "the diagram of a frame in {path}");
    }
}

/// A block without a language is code in Rust for rustdoc, and text for a reader.
#[test]
fn each_block_of_code_names_its_language() {
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        let fences = text
            .lines()
            .filter(|line| line.trim_start().starts_with("```"));
        for (at, fence) in fences.enumerate() {
            let opens = at % 2 == 0;
            assert_eq!(
                fence.trim().len() > 3,
                opens,
                "{}: {fence}",
                document.display()
            );
        }
    }
}

#[test]
fn the_root_has_only_what_every_script_and_host_uses() {
    let root = exports::exported_by_root();
    assert!(root.len() <= 25, "{root:?}");
    for module in exports::MODULES {
        let text = fs::read_to_string(exports::source("lib")).expect("the file is there");
        assert!(text.contains(&format!("\npub mod {module};")), "{module}");
    }
}

/// A row of the page says `hostile::pinned`: a module or a test of that binary.
#[test]
fn the_tests_that_the_page_about_reliability_names_are_there() {
    let page = fs::read_to_string(root().join("docs/reliability.md")).unwrap();
    let mut named = 0;
    for name in page.split('`').skip(1).step_by(2) {
        let Some((binary, path)) = name.split_once("::") else {
            continue;
        };
        let folder = ["tests", "proofs"]
            .map(|of| root().join(of).join(binary))
            .into_iter()
            .find(|folder| folder.join("main.rs").exists());
        let Some(folder) = folder else {
            continue;
        };
        named += 1;
        // `a_chain_*` are several.
        let last = path.rsplit("::").next().unwrap().trim_end_matches('*');
        let (test, module) = (format!("fn {last}"), format!("mod {last}"));
        let is_there = files(&folder, ".rs").iter().any(|file| {
            let source = fs::read_to_string(file).unwrap();
            source.contains(&test) || source.contains(&module)
        });
        assert!(is_there, "docs/reliability.md names `{name}`");
    }
    assert!(named > 100, "only {named} names");
}

/// A type of another crate would tie the versions of this crate to those of the other. Its traits,
/// such as `Stream`, are implemented, and not exported.
#[test]
fn each_exported_type_is_of_this_crate() {
    for file in files(&root().join("src"), ".rs") {
        // The hidden door of the durable package is no part of the public interface.
        if file.starts_with(root().join("src/durable")) {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        for export in text.split("\npub use ").skip(1) {
            let krate = export.split("::").next().unwrap();
            assert!(
                !["futures", "pin_project", "slab", "waker_fn"].contains(&krate),
                "{}: pub use {krate}",
                file.display()
            );
        }
    }
}

/// Rustdoc drops the alias of an item that is exported from a private module: nobody who searches
/// for `WaitForSeconds` would find it. `site/check.mjs` asks the reference itself for each.
#[test]
fn names_of_other_engines_stand_where_an_item_is_exported() {
    let mut names = 0;
    for folder in [
        "src",
        "crates/framestep_durable/src",
        "crates/bevy_framestep/src",
    ] {
        for file in files(&root().join(folder), ".rs") {
            let text = fs::read_to_string(&file).unwrap();
            let mut lines = text.lines();
            while let Some(line) = lines.next() {
                // Those of methods, which are indented, are kept.
                if !line.starts_with("#[doc(alias") {
                    continue;
                }
                names += 1;
                let item = lines.by_ref().find(|line| !line.starts_with("#["));
                let item = item.unwrap_or_default();
                assert!(
                    item.starts_with("pub use ") || item.starts_with("macro_rules! "),
                    "{}: {line} stands at `{item}`, instead of its `pub use`",
                    file.display()
                );
            }
        }
    }
    assert!(names > 40, "only {names} names");
}
