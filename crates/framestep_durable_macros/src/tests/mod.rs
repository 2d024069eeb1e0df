//! The errors of the attribute: their text, and the code that they mark.

mod functions;
mod modules;
mod places;

use proc_macro2::TokenStream;
use syn::parse_str;

use crate::expand;

/// The errors of `#[durable(arguments)] item`: the code that each marks, and its text.
fn errors(arguments: &str, item: &str) -> Vec<(String, String)> {
    let arguments: TokenStream = parse_str(arguments).unwrap();
    let item: TokenStream = parse_str(item).unwrap();
    let Err(errors) = expand::durable(arguments, item) else {
        panic!("it is no error");
    };
    errors
        .into_iter()
        .map(|error| (marked(&error), error.to_string()))
        .collect()
}

/// Asserts that there is one error.
#[track_caller]
fn assert_error(item: &str, code: &str, text: &str) {
    assert_eq!(errors("", item), [(code.to_owned(), text.to_owned())]);
}

fn marked(error: &syn::Error) -> String {
    error.span().source_text().unwrap_or_default()
}

/// The expansion as text, without white space.
fn expanded(arguments: &str, item: &str) -> String {
    let arguments: TokenStream = parse_str(arguments).unwrap();
    let item: TokenStream = parse_str(item).unwrap();
    let expanded = expand::durable(arguments, item).unwrap().to_string();
    expanded.split_whitespace().collect()
}
