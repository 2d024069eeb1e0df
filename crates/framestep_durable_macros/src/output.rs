//! What a function returns: an output, or how its chapter ends.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{GenericArgument, Path, PathArguments, ReturnType, Type, TypePath};

use crate::arguments::Root;
use crate::script::End;

/// What a function returns.
pub(crate) enum Output {
    /// `T`: the script ends with this output.
    Value(ReturnType),
    /// `Chapter<T>`.
    Chapter { value: Value, written: Type },
    /// `Result<Chapter<T>, E>`, or an alias of such: for `?` in a chapter.
    ResultOfChapter {
        value: Value,
        chapter: Type,
        result: TypePath,
    },
}

/// The `T` of `Chapter<T>`: `()` if there is none.
pub(crate) struct Value(Option<Type>);

impl ToTokens for Value {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match &self.0 {
            Some(ty) => ty.to_tokens(tokens),
            None => tokens.extend(quote!(())),
        }
    }
}

impl Output {
    pub(crate) fn new(written: ReturnType) -> Self {
        let ReturnType::Type(arrow, ty) = written else {
            return Output::Value(ReturnType::Default);
        };
        if let Some(value) = value_of_chapter(&ty) {
            return Output::Chapter {
                value,
                written: *ty,
            };
        }
        match *ty {
            Type::Path(mut path) if path.qself.is_none() => match chapter_in_result(&mut path) {
                Some((value, chapter)) => Output::ResultOfChapter {
                    value,
                    chapter,
                    result: path,
                },
                None => Output::Value(ReturnType::Type(arrow, Box::new(Type::Path(path)))),
            },
            ty => Output::Value(ReturnType::Type(arrow, Box::new(ty))),
        }
    }

    /// The output of the script.
    pub(crate) fn value(&self) -> TokenStream {
        match self {
            Output::Value(ReturnType::Default) => quote!(()),
            Output::Value(ReturnType::Type(_, ty)) => quote!(#ty),
            Output::Chapter { value, .. } => quote!(#value),
            Output::ResultOfChapter { value, result, .. } => {
                with_first_argument(result, &quote!(#value))
            }
        }
    }

    /// What the user has written.
    pub(crate) fn written(&self) -> TokenStream {
        match self {
            Output::Value(written) => quote!(#written),
            Output::Chapter { written, .. } => quote!(#written),
            Output::ResultOfChapter {
                chapter, result, ..
            } => with_first_argument(result, &quote!(#chapter)),
        }
    }

    /// What the function with the body returns, for a script with this state.
    pub(crate) fn of_body(&self, root: &Root, state: &impl ToTokens) -> TokenStream {
        match self {
            Output::Value(written) => quote!(#written),
            Output::Chapter { written, .. } => {
                let root = root.at(written.span());
                quote_spanned!(written.span()=> -> #root::Chapter<#state>)
            }
            Output::ResultOfChapter {
                value,
                chapter,
                result,
            } => {
                let root = root.at(chapter.span());
                let chapter = quote_spanned!(chapter.span()=> #root::Chapter<#state, #value>);
                let result = with_first_argument(result, &chapter);
                quote_spanned!(result.span()=> -> #result)
            }
        }
    }

    /// How the chapter ends, from the call of the function with the body.
    pub(crate) fn end(&self, root: &Root, call: TokenStream) -> End {
        match self {
            Output::Value(_) => End::Value(quote!(#root::Chapter::Done(#call.await))),
            Output::Chapter { .. } => End::Future(call),
            Output::ResultOfChapter { .. } => {
                End::Value(quote!(#root::__private::end_of(#call.await)))
            }
        }
    }
}

/// The `T` if the type is `Chapter<T>` or `Chapter`, by whatever path it is reached. A type
/// of the user's own is one that begins with `self`, `super` or `crate`.
fn value_of_chapter(ty: &Type) -> Option<Value> {
    let path = match ty {
        Type::Path(TypePath { qself: None, path }) => path,
        // From a macro of the user's.
        Type::Group(group) => return value_of_chapter(&group.elem),
        _ => return None,
    };
    let (first, last) = (path.segments.first()?, path.segments.last()?);
    let is_own = ["self", "super", "crate"]
        .iter()
        .any(|own| first.ident == own);
    if is_own || last.ident != "Chapter" {
        return None;
    }
    match &last.arguments {
        PathArguments::None => Some(Value(None)),
        PathArguments::AngleBracketed(arguments) if arguments.args.len() == 1 => {
            match arguments.args.first() {
                Some(GenericArgument::Type(ty)) => Some(Value(Some(copy_of(ty)))),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Takes the chapter out of a `Result<Chapter<T>, E>`, or out of an alias of `Result` by any name:
/// the compiler finds what is none.
fn chapter_in_result(result: &mut TypePath) -> Option<(Value, Type)> {
    let last = result.path.segments.last_mut()?;
    let PathArguments::AngleBracketed(arguments) = &mut last.arguments else {
        return None;
    };
    let Some(GenericArgument::Type(ty)) = arguments.args.first_mut() else {
        return None;
    };
    let value = value_of_chapter(ty)?;
    let chapter = std::mem::replace(ty, Type::Verbatim(TokenStream::new()));
    Some((value, chapter))
}

/// The type with another first argument.
fn with_first_argument(result: &TypePath, argument: &TokenStream) -> TokenStream {
    let Path {
        leading_colon,
        segments,
    } = &result.path;
    let segments = segments.pairs().map(|pair| {
        let (segment, colons) = pair.into_tuple();
        let ident = &segment.ident;
        match (&segment.arguments, colons) {
            (PathArguments::AngleBracketed(arguments), None) => {
                let (open, close) = (&arguments.lt_token, &arguments.gt_token);
                let others = arguments.args.iter().skip(1);
                quote!(#ident #open #argument #(, #others)* #close)
            }
            (arguments, colons) => quote!(#ident #arguments #colons),
        }
    });
    quote!(#leading_colon #(#segments)*)
}

/// The crate does without syn's feature for clones.
fn copy_of(ty: &Type) -> Type {
    Type::Verbatim(quote!(#ty))
}
