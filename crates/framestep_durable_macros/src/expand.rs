//! From the attribute and its item to the items of a script.

use proc_macro2::{Span, TokenStream};
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Error, Result};

use crate::arguments::Arguments;
use crate::function::{self, Function};
use crate::module::{self, Module};
use crate::script;

/// The expansion of `#[durable(arguments)] item`.
pub(crate) fn durable(arguments: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let arguments: Arguments = syn::parse2(arguments)?;
    (|input: ParseStream<'_>| {
        let attributes = input.call(Attribute::parse_outer)?;
        if module::begins(input) {
            Ok(Module::parse(attributes, input)?.expand(arguments))
        } else if function::begins(input) {
            let function = Function::parse(attributes, input)?;
            script::of_function(arguments, &function)
        } else {
            Err(input.error("`#[durable]` stands on an `async fn`, or on a module of chapters"))
        }
    })
    .parse2(item)
}

/// `#[durable]` takes the attributes of its chapters away. So this one is somewhere else.
pub(crate) fn chapter() -> Error {
    Error::new(
        Span::call_site(),
        "a chapter stands in a module with `#[durable]`, and not in a module within it",
    )
}
