//! The function that the user has written.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::{
    Abi, Attribute, Error, FnArg, Generics, Ident, Meta, Pat, PatType, Path, Result, ReturnType,
    Signature, Token, Type, Visibility,
};

use crate::arguments::Root;
use crate::names;
use crate::output::Output;
use crate::places::Places;
use crate::saved::{self, Use};
use crate::script::End;

/// A function that has been found to be a script, or a chapter of one.
pub(crate) struct Function {
    pub(crate) attributes: Attributes,
    pub(crate) vis: Visibility,
    pub(crate) ident: Ident,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) output: Output,
    pub(crate) generics: Generics,
    asyncness: Option<Token![async]>,
    fn_token: Token![fn],
    body: Group,
}

pub(crate) struct Parameter {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    mutability: Option<Token![mut]>,
    /// Those of serde: they are for the field.
    of_field: Vec<Attribute>,
    of_body: Vec<Attribute>,
}

/// The attributes of a function, by where they belong.
#[derive(Default)]
pub(crate) struct Attributes {
    /// For each item.
    pub(crate) cfg: Vec<Attribute>,
    /// For the function that makes the state.
    pub(crate) of_call: Vec<Attribute>,
    /// For the function with the body.
    pub(crate) of_body: Vec<Attribute>,
    /// Levels of lints, for both.
    pub(crate) lints: Vec<Attribute>,
}

impl Attributes {
    fn new(attributes: Vec<Attribute>) -> Self {
        let mut sorted = Attributes::default();
        for attribute in attributes {
            let path = attribute.path();
            let list = if is_one_of(path, &["cfg"]) {
                &mut sorted.cfg
            } else if is_one_of(path, &["doc", "deprecated", "must_use"]) {
                &mut sorted.of_call
            } else if is_one_of(path, &["allow", "warn", "deny", "forbid"]) {
                &mut sorted.lints
            } else if path.is_ident("expect") && is_about_the_call(&attribute) {
                &mut sorted.of_call
            } else {
                &mut sorted.of_body
            };
            list.push(attribute);
        }
        sorted
    }
}

fn is_one_of(path: &Path, names: &[&str]) -> bool {
    names.iter().any(|name| path.is_ident(name))
}

/// Whether an expected lint looks at names and uses of a function, not at its body.
fn is_about_the_call(expect: &Attribute) -> bool {
    let Meta::List(list) = &expect.meta else {
        return false;
    };
    let first = list.tokens.clone().into_iter().next();
    first.is_some_and(|lint| {
        let names = [
            "dead_code",
            "missing_docs",
            "unreachable_pub",
            "non_snake_case",
        ];
        names.iter().any(|name| lint.to_string() == *name)
    })
}

/// Whether a function begins here, with or without `pub`, `unsafe` and so on.
pub(crate) fn begins(input: ParseStream<'_>) -> bool {
    fn is_function(ahead: ParseStream<'_>) -> Result<bool> {
        ahead.parse::<Visibility>()?;
        ahead.parse::<Option<Token![const]>>()?;
        ahead.parse::<Option<Token![async]>>()?;
        ahead.parse::<Option<Token![unsafe]>>()?;
        ahead.parse::<Option<Abi>>()?;
        Ok(ahead.peek(Token![fn]))
    }
    is_function(&input.fork()).unwrap_or(false)
}

impl Function {
    /// Parses a function after its attributes. The body stays as it is: the compiler says what
    /// is wrong in it.
    pub(crate) fn parse(attributes: Vec<Attribute>, input: ParseStream<'_>) -> Result<Self> {
        let vis = input.parse()?;
        let sig: Signature = input.parse()?;
        if let Some(semicolon) = input.parse::<Option<Token![;]>>()? {
            return Err(Error::new_spanned(semicolon, "a durable script has a body"));
        }
        let body = block(input)?;

        let mut errors: Option<Error> = None;
        let mut report = |error: Error| match &mut errors {
            Some(errors) => errors.combine(error),
            None => errors = Some(error),
        };
        check_signature(&sig, &mut report);
        let parameters: Vec<Parameter> = sig
            .inputs
            .into_iter()
            .filter_map(|parameter| Parameter::new(parameter, &mut report))
            .collect();
        if let ReturnType::Type(_, ty) = &sig.output {
            saved::check(ty, Use::Output, &mut report);
        }
        match errors {
            None => Ok(Function {
                attributes: Attributes::new(attributes),
                vis,
                ident: sig.ident,
                parameters,
                output: Output::new(sig.output),
                generics: sig.generics,
                asyncness: sig.asyncness,
                fn_token: sig.fn_token,
                body,
            }),
            Some(errors) => Err(errors),
        }
    }

    /// The fields of the state.
    pub(crate) fn fields(&self) -> impl Iterator<Item = TokenStream> {
        self.parameters.iter().map(|parameter| {
            let Parameter {
                ident,
                ty,
                of_field,
                ..
            } = parameter;
            quote!(#(#of_field)* #ident: #ty)
        })
    }

    /// What makes the compiler say first which type cannot be saved, and what to take instead. Of a generic function, it
    /// knows no types here.
    pub(crate) fn demands(&self, root: &Root) -> Option<TokenStream> {
        if self.parameters.is_empty() || !self.generics.params.is_empty() {
            return None;
        }
        let cfg = &self.attributes.cfg;
        let demands = self.parameters.iter().map(|parameter| {
            let ty = &parameter.ty;
            quote_spanned!(ty.span()=> saved::<#ty>();)
        });
        Some(quote! {
            #(#cfg)*
            const _: fn() = || {
                fn saved<T: #root::__private::Saved>() {}
                #(#demands)*
            };
        })
    }

    /// The names of the fields.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Ident> {
        self.parameters.iter().map(|parameter| &parameter.ident)
    }

    /// The function that makes the state, under the user's name.
    pub(crate) fn call(&self, result: &impl ToTokens, state: TokenStream) -> TokenStream {
        let Attributes {
            cfg,
            of_call,
            lints,
            ..
        } = &self.attributes;
        let Function {
            vis,
            ident,
            fn_token,
            ..
        } = self;
        let (generics, _, bounds) = self.generics.split_for_impl();
        let parameters = self.parameters.iter().map(|parameter| {
            let Parameter { ident, ty, .. } = parameter;
            quote!(#ident: #ty)
        });
        let mut block = Group::new(Delimiter::Brace, state);
        // The compiler says only of the user's code that nothing calls it. One character, so that
        // lints do not count the lines of the body twice.
        block.set_span(self.body.span_close());
        quote! {
            #(#cfg)*
            #(#of_call)*
            #[allow(clippy::all, clippy::nursery, clippy::pedantic)]
            #(#lints)*
            #vis #fn_token #ident #generics(#(#parameters),*) -> #result #bounds #block
        }
    }

    /// The function with the body, under another name.
    pub(crate) fn body(
        &self,
        root: &Root,
        state: &impl ToTokens,
        places: &mut Places<'_>,
    ) -> TokenStream {
        let (generics, _, bounds) = self.generics.split_for_impl();
        let Attributes { of_body, lints, .. } = &self.attributes;
        let Function {
            asyncness,
            fn_token,
            body,
            ..
        } = self;
        let body = places.body(&self.ident, self.names(), body);
        let ident = names::hidden(&self.ident);
        // Behind the first part, an underscore that begins a name is a second one within it.
        let begins_so = ident.to_string().contains("__durable__");
        let lint_of_name = begins_so.then(|| quote!(non_snake_case,));
        let output = self.output.of_body(root, state);
        let parameters = self.parameters.iter().map(|parameter| {
            let Parameter {
                ident,
                ty,
                mutability,
                of_body,
                ..
            } = parameter;
            quote!(#(#of_body)* #mutability #ident: #ty)
        });
        quote! {
            #(#of_body)*
            // A `drop` that is an arm is meant, also with a note before it.
            #[allow(#lint_of_name clippy::unused_async, dropping_copy_types, dropping_references)]
            #(#lints)*
            #asyncness #fn_token #ident #generics(#(#parameters),*) #output #bounds #body
        }
    }

    /// How the chapter ends with these arguments.
    pub(crate) fn end(
        &self,
        root: &Root,
        arguments: impl IntoIterator<Item = impl ToTokens>,
    ) -> End {
        let ident = names::hidden(&self.ident);
        let (_, types, _) = self.generics.split_for_impl();
        let types = types.as_turbofish();
        let arguments = arguments.into_iter();
        let call = quote!(#ident #types(#(#arguments),*));
        self.output.end(root, call)
    }
}

/// The block of a function.
fn block(input: ParseStream<'_>) -> Result<Group> {
    let tree: TokenTree = input.parse()?;
    match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Ok(group),
        // From a macro of the user's.
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
            Ok(Group::new(Delimiter::Brace, group.stream()))
        }
        tree => Err(Error::new(tree.span(), "expected the body of the script")),
    }
}

fn check_signature(sig: &Signature, report: &mut impl FnMut(Error)) {
    if let Some(constness) = &sig.constness {
        report(Error::new_spanned(
            constness,
            "a durable script cannot be `const`: it runs over time",
        ));
    }
    if let Some(unsafety) = &sig.unsafety {
        report(Error::new_spanned(
            unsafety,
            "a durable script cannot be `unsafe`: a restore calls it, which cannot keep a \
             promise to it",
        ));
    }
    if let Some(abi) = &sig.abi {
        report(Error::new_spanned(
            abi,
            "a durable script cannot be `extern`: only framestep calls it",
        ));
    }
    if sig.asyncness.is_none() {
        report(Error::new_spanned(
            sig.fn_token,
            "a durable script is an `async fn`",
        ));
    }
    if let Some(variadic) = &sig.variadic {
        report(Error::new_spanned(variadic, "a state has no `...`"));
    }
    for lifetime in sig.generics.lifetimes() {
        report(Error::new_spanned(
            lifetime,
            "a durable script has no lifetimes: its state is saved, so it borrows nothing",
        ));
    }
    if let (true, Some(clause)) = (sig.generics.params.is_empty(), &sig.generics.where_clause) {
        report(Error::new_spanned(
            clause,
            "a durable script that is not generic has no `where`",
        ));
    }
}

impl Parameter {
    fn new(parameter: FnArg, report: &mut impl FnMut(Error)) -> Option<Self> {
        let PatType {
            attrs: attributes,
            pat,
            ty,
            ..
        } = match parameter {
            FnArg::Receiver(receiver) => {
                report(Error::new_spanned(
                    receiver,
                    "a method cannot be a durable script: write a function, and pass it what it \
                     needs of `self`",
                ));
                return None;
            }
            FnArg::Typed(parameter) => parameter,
        };
        saved::check(&ty, Use::Parameter, report);
        let (ident, mutability) = match *pat {
            Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => {
                (pat.ident, pat.mutability)
            }
            pat => {
                report(Error::new_spanned(
                    pat,
                    "a parameter of a durable script has a name, because it is a field of the \
                     saved state: take it apart in the body",
                ));
                return None;
            }
        };
        let mut parameter = Parameter {
            ident,
            ty: *ty,
            mutability,
            of_field: Vec::new(),
            of_body: Vec::new(),
        };
        for attribute in attributes {
            if is_one_of(attribute.path(), &["cfg", "cfg_attr"]) {
                report(Error::new(
                    attribute.span(),
                    "the state of a durable script is the same in all builds: put this on the \
                     function",
                ));
            } else if attribute.path().is_ident("serde") {
                parameter.of_field.push(attribute);
            } else {
                parameter.of_body.push(attribute);
            }
        }
        Some(parameter)
    }
}
