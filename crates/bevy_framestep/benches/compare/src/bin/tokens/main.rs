//! The length of the code for the same tasks, in tokens: with `bevy_framestep`, `bevy_defer`
//! and `bevy_flurx`. All are compiled; the tokens in the body of each function are counted.
//! Prints a table in Markdown.
//!
//! `cargo run --ignore-rust-version --bin tokens`

#![allow(
    dead_code,
    clippy::unused_async,
    reason = "they are compiled and counted, but not run"
)]

mod defer;
mod flurx;
mod framestep;
mod game;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

const TASKS: [(&str, &str); 6] = [
    ("move_component", "move a component in each frame"),
    ("two_components", "move it by another component"),
    ("read_messages", "log all messages of a type"),
    ("wait_for_condition", "wait for a condition on a resource"),
    ("sleep", "wait for two seconds"),
    ("state_scoped", "start a script that ends with a state"),
];

const SOURCES: [&str; 3] = [
    include_str!("framestep.rs"),
    include_str!("defer.rs"),
    include_str!("flurx.rs"),
];

fn main() {
    println!("| task, in tokens | `bevy_framestep` | `bevy_defer` | `bevy_flurx` |");
    println!("|---|--:|--:|--:|");
    let sources = SOURCES.map(|source| source.parse().expect("it is compiled, too"));
    for (function, task) in TASKS {
        let counts = sources.each_ref().map(|source| tokens_of(source, function));
        let least = counts.iter().min();
        let cells = counts.map(|count| {
            if Some(&count) == least {
                format!("**{count}**")
            } else {
                count.to_string()
            }
        });
        println!("| {task} | {} |", cells.join(" | "));
    }
}

/// How many tokens the body of a function has.
fn tokens_of(source: &TokenStream, function: &str) -> usize {
    let mut tokens = source.clone().into_iter();
    while let Some(token) = tokens.next() {
        let is_fn = matches!(&token, TokenTree::Ident(ident) if ident == "fn");
        if is_fn
            && tokens
                .next()
                .is_some_and(|name| name.to_string() == function)
        {
            let body = tokens.find_map(|token| match token {
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group),
                _ => None,
            });
            return count(body.expect("a function has a body").stream());
        }
    }
    panic!("there is no `{function}`");
}

/// Names, literals, signs and brackets; `::` and `+=` are one each.
fn count(tokens: TokenStream) -> usize {
    tokens
        .into_iter()
        .map(|token| match token {
            TokenTree::Group(group) => 2 + count(group.stream()),
            TokenTree::Punct(sign) => usize::from(sign.spacing() == proc_macro2::Spacing::Alone),
            TokenTree::Ident(_) | TokenTree::Literal(_) => 1,
        })
        .sum()
}
