//! Modules.

use super::{assert_error, errors, expanded, marked};
use crate::expand;

#[test]
fn a_module_has_chapters() {
    let text = "a durable module has chapters: functions with `#[chapter]`";
    assert_error("mod a {}", "a", text);
    assert_error("mod a { async fn b() -> Chapter {} }", "a", text);
    assert_error("mod a { mod b { #[chapter] async fn c() {} } }", "a", text);
}

#[test]
fn a_module_has_its_body() {
    assert_error(
        "pub mod a;",
        "a",
        "a durable module stands in the file of its parent, with its body: `mod x { .. }`",
    );
}

#[test]
fn chapters_have_one_output() {
    let of = |chapters: &str| format!("mod a {{ {chapters} }}");
    let begin = "the chapters of a script have one output: ";
    assert_error(
        &of("#[chapter] async fn b() -> Chapter {} #[chapter] async fn c() -> Chapter<bool> {}"),
        "Chapter<bool>",
        &format!("{begin}`b` has `()`, and `c` has `bool`"),
    );
    assert_error(
        &of("#[chapter] async fn b() -> Chapter<u8> {} #[chapter] async fn c() {}"),
        "c",
        &format!("{begin}`b` has `u8`, and `c` has `()`"),
    );
    assert_error(
        &of("#[chapter] async fn b() -> Chapter {} \
             #[chapter] async fn c() -> Result<Chapter, E> {}"),
        "Result<Chapter, E>",
        &format!("{begin}`b` has `()`, and `c` has `Result<(), E>`"),
    );
}

#[test]
fn a_last_chapter_returns_the_output_alone() {
    expanded(
        "",
        "mod a { #[chapter] async fn b() -> Chapter<u8> {} #[chapter] async fn c() -> u8 {} }",
    );
    expanded(
        "",
        "mod a { #[chapter] async fn b() -> Result<Chapter<u8>, E> {} \
         #[chapter] async fn c() -> Result<u8, E> {} }",
    );
}

#[test]
fn chapters_are_functions_like_other_scripts() {
    assert_error(
        "mod a { #[chapter] struct B; #[chapter] async fn c() {} }",
        "#[chapter]",
        "a chapter is an `async fn`",
    );
    let found = errors(
        "",
        "mod a { #[chapter] fn b(x: &str) {} fn c(x: &str) {} #[chapter] async fn d<T>() {} }",
    );
    let marked: Vec<&str> = found.iter().map(|(code, _)| code.as_str()).collect();
    assert_eq!(marked, ["fn", "&str", "<T>"]);
    let found = errors("", "mod a { #[chapter(1)] async fn b() {} }");
    assert_eq!(found[0].1, "unexpected token in attribute");
}

#[test]
fn a_chapter_elsewhere_is_an_error() {
    let error = expand::chapter();
    assert_eq!(
        error.to_string(),
        "a chapter stands in a module with `#[durable]`, and not in a module within it"
    );
    assert_eq!(marked(&error), "");
}

#[test]
fn everything_else_stays() {
    let text = expanded(
        "name = \"n\"",
        "#[doc = \"m\"] pub(crate) mod a {
            #![allow(x)]
            use super::*;
            #[derive(Clone)] struct S { x: u8 }
            #[doc = \"b\"] #[chapter] async fn b() {}
            #[inline] fn not valid Rust
            #[framestep_durable::chapter] pub async fn c(y: u8) {}
            const C: u8 = 3;
        }",
    );
    let others = "#[doc=\"m\"]pub(crate)moda{#![allow(x)]usesuper::*;#[derive(Clone)]\
                  structS{x:u8}#[inline]fnnotvalidRustconstC:u8=3;";
    assert!(text.starts_with(others), "{text}");
    assert!(
        text.contains("pub(crate)enumChapters_of_a{B,C{y:u8}}"),
        "{text}"
    );
    assert!(text.contains("#[doc=\"b\"]"), "{text}");
    assert!(text.contains("=\"n\";"), "{text}");
}

#[test]
fn the_state_is_as_visible_as_the_module() {
    let visible = |vis: &str, state: &str| {
        let text = expanded(
            "",
            &format!("{vis} mod a {{ #[chapter] async fn b() {{}} }}"),
        );
        assert!(
            text.contains(&format!("]{state}enumChapters_of_a{{B}}")),
            "{text}"
        );
    };
    visible("", "pub(super)");
    visible("pub(self)", "pub(insuper)");
    visible("pub(super)", "pub(insuper::super)");
    visible("pub(in super::super)", "pub(insuper::super::super)");
    visible("pub(in self::super)", "pub(insuper::super)");
    visible("pub(crate)", "pub(crate)");
    visible("pub(in crate::x)", "pub(incrate::x)");
    visible("pub", "pub");
}

#[test]
fn the_name_of_a_chapter_makes_the_name_of_a_variant() {
    for name in ["self_", "_1", "__"] {
        let text =
            format!("no name for its variant can be made from `{name}`: choose another name");
        assert_error(
            &format!("mod m {{ #[chapter] async fn {name}() {{}} }}"),
            name,
            &text,
        );
    }
}

#[test]
fn a_chapter_is_not_generic() {
    let text = "a chapter cannot be generic: all chapters have one state. Write a function with \
                `#[durable]`, or a module for each type";
    assert_error("mod m { #[chapter] async fn a<T>(x: T) {} }", "<T>", text);
}
