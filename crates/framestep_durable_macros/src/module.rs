//! A module of chapters.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Error, Generics, Ident, Result, Token, Visibility};

use crate::arguments::{Arguments, Root};
use crate::function::{self, Function};
use crate::names;
use crate::places::Places;
use crate::script::{self, End, Script};

/// A module in which some functions are chapters.
pub(crate) struct Module {
    attributes: Vec<Attribute>,
    vis: Visibility,
    mod_token: Token![mod],
    ident: Ident,
    /// Everything but the chapters, as it was written.
    others: TokenStream,
    chapters: Vec<Chapter>,
}

/// A function that is a chapter, and its variant of the state.
struct Chapter {
    function: Function,
    variant: Ident,
}

/// Whether a module begins here.
pub(crate) fn begins(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    ahead.parse::<Visibility>().is_ok() && ahead.peek(Token![mod])
}

impl Module {
    /// Parses a module after its attributes.
    pub(crate) fn parse(attributes: Vec<Attribute>, input: ParseStream<'_>) -> Result<Self> {
        let vis = input.parse()?;
        let mod_token = input.parse()?;
        let ident: Ident = input.parse()?;
        if input.peek(Token![;]) {
            return Err(Error::new_spanned(
                ident,
                "a durable module stands in the file of its parent, with its body: `mod x { .. }`",
            ));
        }
        let body: Group = input.parse()?;
        let (others, chapters) = sort.parse2(body.stream())?;
        if chapters.is_empty() {
            return Err(Error::new_spanned(
                ident,
                "a durable module has chapters: functions with `#[chapter]`",
            ));
        }
        check_outputs(&chapters)?;
        Ok(Module {
            attributes,
            vis,
            mod_token,
            ident,
            others,
            chapters,
        })
    }

    pub(crate) fn expand(&self, arguments: Arguments) -> TokenStream {
        let Arguments {
            name,
            versions,
            state: chosen,
            root,
        } = arguments;
        let Module {
            attributes,
            vis,
            mod_token,
            ident,
            others,
            chapters,
        } = self;
        let of_state = script::attributes(&root, chosen.as_ref(), ident);
        let state = &chosen.unwrap_or_else(|| names::chapters(ident));
        let vis_of_state = seen_from_inside(vis);
        let variants = chapters.iter().map(variant);
        let demands = chapters
            .iter()
            .map(|chapter| chapter.function.demands(&root));
        let calls = chapters.iter().map(|chapter| {
            let function = &chapter.function;
            function.call(state, value(state, chapter, function.names()))
        });
        // The constants of a chapter that is not in each build may not be, either.
        let has_lists = chapters
            .iter()
            .all(|chapter| chapter.function.attributes.cfg.is_empty());
        let mut places = Places::new(&root, has_lists);
        let bodies = chapters.iter().map(|chapter| {
            let cfg = &chapter.function.attributes.cfg;
            let body = chapter.function.body(&root, state, &mut places);
            quote!(#(#cfg)* #body)
        });
        let bodies: Vec<TokenStream> = bodies.collect();
        let arms = chapters.iter().map(|chapter| arm(&root, state, chapter));
        let generics = Generics::default();
        let script = Script {
            root: &root,
            cfg: &[],
            state,
            generics: &generics,
            name: name.unwrap_or_else(|| names::in_files(ident)),
            versions,
            output: chapters[0].function.output.value(),
            bodies: quote!(#(#bodies)*),
            places: places.table(),
            end: End::Value(quote!(match self { #(#arms)* })),
        };
        let implementations = script.implementations();
        // The place of the compiler's error if the name is taken.
        let head = quote_spanned!(state.span()=> #vis_of_state enum #state);
        quote! {
            #(#attributes)*
            #vis #mod_token #ident {
                #others

                #(#demands)*
                #of_state
                #[allow(missing_docs, private_interfaces)]
                #head { #(#variants),* }

                #(#calls)*
                #implementations
            }
        }
    }
}

/// The visibility of a module, for an item inside it. An item of more would need an output that
/// is public.
fn seen_from_inside(vis: &Visibility) -> TokenStream {
    let path = match vis {
        Visibility::Public(_) => return quote!(#vis),
        Visibility::Inherited => return quote!(pub(super)),
        Visibility::Restricted(restricted) => &*restricted.path,
    };
    match path.segments[0].ident.to_string().as_str() {
        "super" => quote!(pub(in super::#path)),
        "self" => {
            let rest = path.segments.iter().skip(1);
            quote!(pub(in super #(::#rest)*))
        }
        _ => quote!(#vis),
    }
}

/// Sorts the items of a module. Only chapters are parsed: the compiler says what is wrong in
/// the others.
fn sort(input: ParseStream<'_>) -> Result<(TokenStream, Vec<Chapter>)> {
    let mut others = TokenStream::new();
    let mut chapters = Vec::new();
    let mut errors: Option<Error> = None;
    while !input.is_empty() {
        if !input.peek(Token![#]) || input.peek2(Token![!]) {
            others.extend([input.parse::<TokenTree>()?]);
            continue;
        }
        let mut attributes = Attribute::parse_outer(input)?;
        let Some(at) = attributes.iter().position(is_chapter) else {
            others.extend(attributes.iter().map(ToTokens::to_token_stream));
            continue;
        };
        let chapter = attributes.remove(at);
        let parsed = chapter.meta.require_path_only().and_then(|_| {
            if function::begins(input) {
                let function = Function::parse(attributes, input)?;
                if function.generics.params.is_empty() {
                    let variant = names::camel_case(&function.ident)?;
                    return Ok(Chapter { function, variant });
                }
                let text = "a chapter cannot be generic: all chapters have one state. Write a \
                            function with `#[durable]`, or a module for each type";
                Err(Error::new_spanned(&function.generics, text))
            } else {
                let text = "a chapter is an `async fn`";
                Err(Error::new_spanned(&chapter, text))
            }
        });
        match (parsed, &mut errors) {
            (Ok(chapter), _) => chapters.push(chapter),
            (Err(error), Some(errors)) => errors.combine(error),
            (Err(error), errors @ None) => *errors = Some(error),
        }
    }
    match errors {
        None => Ok((others, chapters)),
        Some(errors) => Err(errors),
    }
}

/// Whether the attribute is `#[chapter]`, by whatever path.
fn is_chapter(attribute: &Attribute) -> bool {
    let last = attribute.path().segments.last();
    last.is_some_and(|segment| segment.ident == "chapter")
}

fn check_outputs(chapters: &[Chapter]) -> Result<()> {
    let mut functions = chapters.iter().map(|chapter| &chapter.function);
    let Some(first) = functions.next() else {
        return Ok(());
    };
    let output = text_of(first);
    for chapter in functions {
        let other = text_of(chapter);
        if other == output {
            continue;
        }
        let text = format!(
            "the chapters of a script have one output: `{}` has `{output}`, and `{}` has `{other}`",
            first.ident, chapter.ident
        );
        let written = chapter.output.written();
        return Err(if written.is_empty() {
            Error::new_spanned(&chapter.ident, text)
        } else {
            Error::new_spanned(written, text)
        });
    }
    Ok(())
}

/// The output of a chapter, with the spaces that people write.
fn text_of(chapter: &Function) -> String {
    let mut text = chapter.output.value().to_string();
    for (tokens, written) in [
        (" <", "<"),
        ("< ", "<"),
        (" >", ">"),
        (" ,", ","),
        (" ::", "::"),
    ] {
        text = text.replace(tokens, written);
    }
    text.replace(":: ", "::")
}

fn variant(chapter: &Chapter) -> TokenStream {
    let Chapter { function, variant } = chapter;
    let cfg = &function.attributes.cfg;
    let fields = function.fields();
    if function.parameters.is_empty() {
        quote!(#(#cfg)* #variant)
    } else {
        quote!(#(#cfg)* #variant { #(#fields),* })
    }
}

/// The state of a chapter, as an expression or as a pattern.
fn value(
    state: &Ident,
    chapter: &Chapter,
    fields: impl Iterator<Item = impl ToTokens>,
) -> TokenStream {
    let Chapter { function, variant } = chapter;
    if function.parameters.is_empty() {
        quote!(#state::#variant)
    } else {
        quote!(#state::#variant { #(#fields),* })
    }
}

fn arm(root: &Root, state: &Ident, chapter: &Chapter) -> TokenStream {
    let function = &chapter.function;
    let cfg = &function.attributes.cfg;
    // A parameter may have any name: also that of a constant in scope.
    let bindings: Vec<Ident> = (0..function.parameters.len())
        .map(|at| format_ident!("argument_{at}", span = Span::mixed_site()))
        .collect();
    let fields = function.names().zip(&bindings);
    let pattern = value(
        state,
        chapter,
        fields.map(|(field, binding)| quote!(#field: #binding)),
    );
    let end = match function.end(root, &bindings) {
        End::Value(end) => end,
        End::Future(future) => quote!(#future.await),
    };
    quote!(#(#cfg)* #pattern => #end,)
}
