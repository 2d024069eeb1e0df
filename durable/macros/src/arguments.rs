//! What stands in the parentheses of `#[durable(..)]`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, Ident, LitStr, Path, Result, Token};

/// The arguments of `#[durable]`.
pub(crate) struct Arguments {
    /// The name in files, if it is not that of the function or the module.
    pub(crate) name: Option<LitStr>,
    pub(crate) root: Root,
}

/// The path of the crate `framestep_durable`.
#[derive(Default)]
pub(crate) struct Root(Option<Path>);

impl Root {
    /// The path for code that the compiler shall show at this place.
    pub(crate) fn at(&self, place: Span) -> TokenStream {
        let path = self.0.as_ref().map(|path| quote!(#path));
        path.unwrap_or_else(|| quote_spanned!(place=> ::framestep_durable))
    }
}

impl ToTokens for Root {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(self.at(Span::call_site()));
    }
}

enum Argument {
    Name(LitStr),
    Crate(Path),
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let key = input.call(Ident::parse_any)?;
        match key.to_string().as_str() {
            "name" => {
                input.parse::<Token![=]>()?;
                let name: LitStr = input.parse()?;
                if name.value().is_empty() {
                    return Err(Error::new(name.span(), "a script needs a name in files"));
                }
                Ok(Argument::Name(name))
            }
            "crate" => {
                input.parse::<Token![=]>()?;
                Ok(Argument::Crate(input.call(Path::parse_mod_style)?))
            }
            _ => Err(Error::new(
                key.span(),
                format!(
                    "unknown argument `{key}`: there are `name = \"..\"`, the name in files, and \
                     `crate = path`, where `framestep_durable` is"
                ),
            )),
        }
    }
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut arguments = Arguments {
            name: None,
            root: Root::default(),
        };
        for argument in Punctuated::<Argument, Token![,]>::parse_terminated(input)? {
            match argument {
                Argument::Name(name) if arguments.name.is_some() => {
                    return Err(Error::new(name.span(), "a script has one name in files"));
                }
                Argument::Name(name) => arguments.name = Some(name),
                Argument::Crate(path) => arguments.root = Root(Some(path)),
            }
        }
        Ok(arguments)
    }
}
