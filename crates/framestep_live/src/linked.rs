//! What the game itself uses of the packages of scripts. New code of it does not reach the game by an exchange:
//! the game calls what was linked into it. So a change of that replaces the process.
//!
//! It is found in the text: the game names items by paths that begin with the crate of the scripts, and items name
//! each other. A name counts wherever it stands, so too much may be found, which costs a build of the game. What
//! macros make is not found.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::{Deserialize, Serialize};

use crate::tokens::{Token, tokens};

/// An item of the scripts.
#[derive(Debug)]
struct Item {
    /// The hash of its words; of a durable script only of its head, since it begins in the latest code by itself.
    hash: u64,
    /// The names in these words.
    names: BTreeSet<String>,
}

/// What the game uses, with a hash of its words, and by which name the game reaches it.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Linked {
    items: BTreeMap<String, (u64, Use)>,
}

/// Where the game names something of the scripts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Use {
    name: String,
    place: String,
}

impl Linked {
    /// Reads the sources of the game, with their names, and those of the scripts, whose crates have these names.
    pub(crate) fn read<'a>(
        crates: &[String],
        game: impl IntoIterator<Item = (&'a str, &'a str)>,
        scripts: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let mut items: BTreeMap<String, Vec<Item>> = BTreeMap::new();
        let mut exported = BTreeSet::new();
        for source in scripts {
            let words = tokens(source);
            add_items(&words, &mut items);
            exported.extend(exported_of(&words));
        }
        // The exchange brings the registry.
        items.retain(|name, _| !exported.contains(name));

        let mut open: VecDeque<(String, Use)> = VecDeque::new();
        for (file, source) in game {
            let words = tokens(source);
            for word in named_by_paths(&words, crates, &items) {
                let place = format!("{file}:{}", word.line);
                let name = word.text.to_owned();
                open.push_back((name.clone(), Use { name, place }));
            }
        }
        let mut linked = Linked::default();
        while let Some((name, used)) = open.pop_front() {
            let Some(found) = items.get(&name) else {
                continue;
            };
            if linked.items.contains_key(&name) {
                continue;
            }
            let mut hasher = DefaultHasher::new();
            for item in found {
                item.hash.hash(&mut hasher);
                open.extend(item.names.iter().map(|name| (name.clone(), used.clone())));
            }
            linked.items.insert(name, (hasher.finish(), used));
        }
        linked
    }

    /// Says what has changed since, if anything has.
    pub(crate) fn change_to(&self, now: &Linked) -> Option<String> {
        let has_changed = |(name, (hash, used)): (&String, &(u64, Use))| {
            let now = now.items.get(name).map(|(hash, _)| hash);
            (now != Some(hash)).then(|| {
                let what = if *name == used.name {
                    format!("`{name}`")
                } else {
                    format!("`{name}`, on which `{}` depends,", used.name)
                };
                format!(
                    "{what} has changed, and the game itself uses it ({})",
                    used.place
                )
            })
        };
        self.items.iter().find_map(has_changed)
    }
}

/// What is exported with `export!(registry)`.
fn exported_of(words: &[Token<'_>]) -> Vec<String> {
    let is_export = |at: &[Token<'_>]| at[0].text == "export" && at[1].text == "!";
    let exported = words.windows(4).filter(|at| is_export(at));
    exported.map(|at| at[3].text.to_owned()).collect()
}

/// The names that follow the name of one of these crates: in paths, and in `use` with its braces.
fn named_by_paths<'a>(
    words: &[Token<'a>],
    crates: &[String],
    items: &BTreeMap<String, Vec<Item>>,
) -> Vec<Token<'a>> {
    let is_path = |at: usize| {
        let next = words.get(at + 1..at + 3);
        next.is_some_and(|it| it[0].text == ":" && it[1].text == ":")
    };
    let mut named = Vec::new();
    let mut has_all = false;
    for at in 0..words.len() {
        if !crates.iter().any(|it| it == words[at].text) || !is_path(at) {
            continue;
        }
        let mut depth = 0_u32;
        for (next, word) in words.iter().enumerate().skip(at + 3) {
            match word.text {
                "{" => depth += 1,
                "}" if depth > 0 => depth -= 1,
                "*" if words[next - 1].text == ":" || depth > 0 => has_all = true,
                ":" => continue,
                "," if depth > 0 => continue,
                _ if word.is_identifier() => named.push(*word),
                _ => break,
            }
            // A path goes on with `::`.
            if depth == 0 && !is_path(next) {
                break;
            }
        }
    }
    if has_all {
        let known = words.iter().filter(|it| items.contains_key(it.text));
        named.extend(known.copied());
    }
    named
}

/// Where an item begins, ends, and what it is.
struct Part<'a> {
    attributes: &'a [Token<'a>],
    words: &'a [Token<'a>],
}

/// Adds the items of a source, also those in modules.
fn add_items<'a>(mut words: &'a [Token<'a>], items: &mut BTreeMap<String, Vec<Item>>) {
    while let Some((part, after)) = next_part(words) {
        words = after;
        let is_durable = part.attributes.iter().any(|it| it.text == "durable");
        let Part { words, .. } = part;
        let body = words.iter().position(|it| it.text == "{");
        // `const fn` and `extern "C" fn` are functions.
        let head = words
            .iter()
            .take_while(|it| !["(", "{", "="].contains(&it.text));
        let function = head.clone().position(|it| it.text == "fn");
        let keyword = function.or_else(|| head.clone().position(|it| KEYWORDS.contains(&it.text)));
        let Some(keyword) = keyword else {
            continue;
        };
        let name = words.get(keyword + 1).map_or("", |it| it.text);
        match (words[keyword].text, body) {
            ("mod", Some(body)) if !is_durable => {
                add_items(&words[body + 1..words.len() - 1], items);
            }
            // Names of others.
            ("use" | "extern" | "mod", _) => {}
            ("impl", Some(body)) => {
                let head = &words[..body];
                if !head.iter().any(|it| it.text == "DurableScript") {
                    for of in head
                        .iter()
                        .filter(|it| it.is_identifier() && it.text != "impl")
                    {
                        items
                            .entry(of.text.to_owned())
                            .or_default()
                            .push(item(words));
                    }
                }
            }
            ("fn", Some(body)) if is_durable => {
                let mut head = part.attributes.to_vec();
                head.extend_from_slice(&words[..body]);
                items.entry(name.to_owned()).or_default().push(item(&head));
            }
            _ => items.entry(name.to_owned()).or_default().push(item(words)),
        }
    }
}

const KEYWORDS: [&str; 12] = [
    "mod", "use", "extern", "impl", "fn", "struct", "enum", "union", "trait", "type", "const",
    "static",
];

fn item(words: &[Token<'_>]) -> Item {
    let mut hasher = DefaultHasher::new();
    for word in words {
        word.text.hash(&mut hasher);
    }
    let names = words.iter().filter(|it| it.is_identifier());
    Item {
        hash: hasher.finish(),
        names: names.map(|it| it.text.to_owned()).collect(),
    }
}

/// The first item, and what is after it. It ends with a semicolon, or with its last brace.
fn next_part<'a>(words: &'a [Token<'a>]) -> Option<(Part<'a>, &'a [Token<'a>])> {
    let mut at = 0;
    while words.get(at)?.text == "#" {
        at = words[at..].iter().position(|it| it.text == "[")? + at;
        at = end_of_group(words, at)?;
    }
    let begin = at;
    let mut is_value = false;
    loop {
        match words.get(at)?.text {
            // `const fn` is a function.
            "const" | "static" | "type" | "use" => {
                let next = words.get(at + 1).map_or("", |it| it.text);
                is_value |= !["fn", "unsafe", "async", "extern"].contains(&next);
                at += 1;
            }
            "{" => {
                at = end_of_group(words, at)?;
                if !is_value {
                    break;
                }
            }
            "(" | "[" => at = end_of_group(words, at)?,
            ";" => {
                at += 1;
                break;
            }
            // The brace of the module around it, or a source that does not parse.
            "}" | ")" | "]" => return None,
            _ => at += 1,
        }
    }
    let part = Part {
        attributes: &words[..begin],
        words: &words[begin..at],
    };
    Some((part, &words[at..]))
}

/// Behind the bracket that closes the one at `at`.
fn end_of_group(words: &[Token<'_>], at: usize) -> Option<usize> {
    let mut depth = 0_u32;
    for (at, word) in words.iter().enumerate().skip(at) {
        match word.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::Linked;

    const GAME: &str = r"
        use scripts::{HIT, fight::{begin, Config}};
        fn main() {
            // scripts::never
            runtime.start(scripts::boss(1));
            let registry = scripts::registry();
            other::unused();
        }
    ";

    const SCRIPTS: &str = r#"
        pub const HIT: Signal<u32> = signal(NAME);
        const NAME: &str = "hit; }";
        #[durable(version = 1)]
        pub async fn boss(number: u32) -> Chapter { wait_seconds(1).await; quiet() }
        fn quiet() -> u8 { 1 }
        pub mod fight {
            pub fn begin(runtime: &Runtime) { runtime.start(super::boss(2)); helper() }
            const fn helper() -> [u8; 2] { [1, 2] }
            pub struct Config(u8);
            impl Config { pub fn speed(&self) -> u8 { 3 } }
            impl DurableScript for Config { async fn run(self) -> Chapter { 4 } }
        }
        pub fn unused() { 5 }
        pub fn registry() -> Registry { Registry::new().script(boss) }
        #[cfg(feature = "live")]
        framestep_live::export!(registry);
    "#;

    fn read(game: &str, scripts: &str) -> Linked {
        let crates = ["scripts".to_owned()];
        Linked::read(&crates, [("src/main.rs", game)], [scripts])
    }

    fn change(from: &str, to: &str) -> Option<String> {
        assert!(SCRIPTS.contains(from), "{from}");
        let changed = SCRIPTS.replace(from, to);
        read(GAME, SCRIPTS).change_to(&read(GAME, &changed))
    }

    #[test]
    fn what_the_game_names_and_what_that_depends_on_is_linked() {
        let used = |name: &str, line: u32| {
            Some(format!(
                "`{name}` has changed, and the game itself uses it (src/main.rs:{line})"
            ))
        };
        assert_eq!(change("Signal<u32>", "Signal<u64>"), used("HIT", 2));
        assert_eq!(
            change("hit; }", "struck"),
            Some(
                "`NAME`, on which `HIT` depends, has changed, and the game itself uses it (src/main.rs:2)"
                    .to_owned()
            )
        );
        assert_eq!(change("{ 3 }", "{ 33 }"), used("Config", 2));
        assert!(
            change("[1, 2]", "[2, 2]")
                .unwrap()
                .starts_with("`helper`, on which `begin`")
        );
        assert!(
            change("pub const HIT", "pub const STRUCK").is_some(),
            "it is gone"
        );
    }

    #[test]
    fn scripts_and_the_registry_come_with_the_exchange() {
        assert_eq!(change("wait_seconds(1)", "wait_seconds(2)"), None);
        assert_eq!(change("{ 1 }", "{ 11 }"), None, "only a script calls it");
        assert_eq!(change("script(boss)", "script(boss).script(cat)"), None);
        assert_eq!(
            change("{ 4 }", "{ 44 }"),
            None,
            "a script without the attribute"
        );
        assert_eq!(change("{ 5 }", "{ 55 }"), None, "of another crate");
        assert_eq!(change("fn quiet", "/* a comment */ fn quiet"), None);
        // The game makes the state of a script that it starts.
        assert!(
            change("number: u32", "number: u64")
                .unwrap()
                .starts_with("`boss` has")
        );
    }

    #[test]
    fn with_a_star_each_name_in_the_file_counts() {
        let game = GAME.replace("scripts::{HIT, fight::{begin, Config}}", "scripts::*");
        let scripts = SCRIPTS.replace("{ 5 }", "{ 55 }");
        let change = read(&game, SCRIPTS).change_to(&read(&game, &scripts));
        assert!(change.unwrap().starts_with("`unused` has changed"));
    }

    #[test]
    fn a_source_that_does_not_parse_is_read_as_far_as_it_does() {
        let linked = read("use scripts::{HIT", "pub const HIT: u8 = 1; fn a() {");
        assert_eq!(linked.items.len(), 1);
        assert_eq!(read("scripts::", ""), Linked::default());
    }
}
