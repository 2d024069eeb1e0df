//! What stands in the parentheses of `#[durable(..)]`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Expr, Ident, Lit, LitInt, LitStr, Path, Result, Token};

/// The arguments of `#[durable]`.
pub(crate) struct Arguments {
    /// The name in files, if it is not that of the function or the module.
    pub(crate) name: Option<Name>,
    pub(crate) versions: Versions,
    /// The name of the type of the state, if it is not hidden.
    pub(crate) state: Option<Ident>,
    pub(crate) root: Root,
}

/// The name of a script in files.
pub(crate) enum Name {
    Text(LitStr),
    /// A constant, for example of a type that the script is generic over.
    Constant(Box<Expr>),
}

impl Parse for Name {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if !input.peek(Lit) {
            return Ok(Name::Constant(input.parse()?));
        }
        let name: LitStr = input.parse()?;
        if name.value().is_empty() {
            return Err(Error::new(name.span(), "a script needs a name in files"));
        }
        Ok(Name::Text(name))
    }
}

impl ToTokens for Name {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Name::Text(name) => name.to_tokens(tokens),
            Name::Constant(name) => name.to_tokens(tokens),
        }
    }
}

/// The version of a script, and the function that makes states of earlier versions ones of today.
#[derive(Default)]
pub(crate) struct Versions {
    version: Option<LitInt>,
    migrate: Option<Path>,
}

impl Versions {
    /// The items of `DurableScript` for a crate at this path.
    pub(crate) fn items(&self, root: &Root) -> TokenStream {
        let version = self
            .version
            .as_ref()
            .map(|version| quote!(const VERSION: ::core::primitive::u32 = #version;));
        let migrate = self.migrate.as_ref().map(|migrate| {
            quote! {
                fn migrate(old: #root::OldState<'_>) -> ::core::option::Option<Self> {
                    #migrate(old)
                }
            }
        });
        quote!(#version #migrate)
    }
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
    Name(Name),
    Version(LitInt),
    Migrate(Path),
    State(Ident),
    Crate(Path),
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let key = input.call(Ident::parse_any)?;
        match key.to_string().as_str() {
            "name" => {
                input.parse::<Token![=]>()?;
                Ok(Argument::Name(input.parse()?))
            }
            "version" => {
                input.parse::<Token![=]>()?;
                let version: LitInt = input.parse()?;
                if version.base10_parse::<u32>().is_err() {
                    return Err(Error::new(version.span(), "a version is a `u32`"));
                }
                Ok(Argument::Version(version))
            }
            "migrate" => {
                input.parse::<Token![=]>()?;
                Ok(Argument::Migrate(input.parse()?))
            }
            "state" => {
                input.parse::<Token![=]>()?;
                Ok(Argument::State(input.parse()?))
            }
            "crate" => {
                input.parse::<Token![=]>()?;
                Ok(Argument::Crate(input.call(Path::parse_mod_style)?))
            }
            _ => Err(Error::new(
                key.span(),
                format!(
                    "unknown argument `{key}`: there are `name = \"..\"`, the name in files, \
                     `version = 2` and `migrate = function` for saves of earlier code, `state = \
                     Name`, to name the type of the state, and `crate = path`, where \
                     `framestep_durable` is"
                ),
            )),
        }
    }
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut arguments = Arguments {
            name: None,
            versions: Versions::default(),
            state: None,
            root: Root::default(),
        };
        let versions = &mut arguments.versions;
        for argument in Punctuated::<Argument, Token![,]>::parse_terminated(input)? {
            match argument {
                Argument::Name(name) if arguments.name.is_some() => {
                    return Err(Error::new(name.span(), "a script has one name in files"));
                }
                Argument::Name(name) => arguments.name = Some(name),
                Argument::Version(version) if versions.version.is_some() => {
                    return Err(Error::new(version.span(), "a script has one version"));
                }
                Argument::Version(version) => versions.version = Some(version),
                Argument::Migrate(path) if versions.migrate.is_some() => {
                    return Err(Error::new(path.span(), "a script has one `migrate`"));
                }
                Argument::Migrate(path) => versions.migrate = Some(path),
                Argument::State(state) if arguments.state.is_some() => {
                    return Err(Error::new(state.span(), "a script has one state"));
                }
                Argument::State(state) => arguments.state = Some(state),
                Argument::Crate(path) => arguments.root = Root(Some(path)),
            }
        }
        match (&arguments.versions.migrate, &arguments.state) {
            (Some(migrate), None) => Err(Error::new_spanned(
                migrate,
                "a function that migrates returns a state, so the type of the state needs a name: add `state = Name`, \
                 and return `Option<Name>`",
            )),
            _ => Ok(arguments),
        }
    }
}
