//! The items that the attribute makes of a state and its chapters.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Error, Generics, Ident, Result};

use crate::arguments::{Arguments, Name, Root, Versions};
use crate::function::Function;
use crate::names;
use crate::places::Places;

/// What a script is made of.
pub(crate) struct Script<'a> {
    pub(crate) root: &'a Root,
    pub(crate) cfg: &'a [Attribute],
    pub(crate) state: &'a Ident,
    pub(crate) generics: &'a Generics,
    pub(crate) name: Name,
    pub(crate) versions: Versions,
    pub(crate) output: TokenStream,
    /// The functions with the bodies.
    pub(crate) bodies: TokenStream,
    /// The table of their statements.
    pub(crate) places: TokenStream,
    /// How a chapter ends, from `self`.
    pub(crate) end: End,
}

/// How a chapter ends.
pub(crate) enum End {
    /// An expression in an `async fn`.
    Value(TokenStream),
    /// The future of the chapter: no other one around it.
    Future(TokenStream),
}

/// What stands on the type of the state of `script`. Lints look at the function alone.
pub(crate) fn attributes(root: &Root, chosen: Option<&Ident>, script: &Ident) -> TokenStream {
    let serde = quote!(#root::__private::serde);
    let path = serde.to_string();
    let name = script.unraw().to_string();
    let shown = if chosen.is_some() {
        let docs = format!("The state of the script `{name}`.");
        quote!(#[doc = #docs])
    } else {
        // Errors of serde have the name.
        quote!(#[doc(hidden)] #[allow(non_camel_case_types)] #[serde(rename = #name)])
    };
    quote! {
        #[must_use = "a script does nothing until it is started, or awaited in another script"]
        #[derive(#serde::Serialize, #serde::Deserialize)]
        #[serde(crate = #path)]
        #shown
        #[allow(
            dead_code,
            missing_debug_implementations,
            unreachable_pub,
            clippy::all,
            clippy::nursery,
            clippy::pedantic
        )]
    }
}

/// A script of one function.
pub(crate) fn of_function(arguments: Arguments, function: &Function) -> Result<TokenStream> {
    let Arguments {
        name,
        versions,
        state: chosen,
        root,
    } = arguments;
    let Function { vis, generics, .. } = function;
    let is_generic = !generics.params.is_empty();
    if is_generic && !matches!(name, Some(Name::Constant(_))) {
        return Err(Error::new_spanned(
            generics,
            "a file knows a durable script by its name: a generic one needs a name for each type, \
             such as `#[durable(name = T::NAME)]` with a constant of a trait",
        ));
    }
    let cfg = &function.attributes.cfg;
    let fields = function.fields();
    let names = function.names();
    let (parameters, types, bounds) = generics.split_for_impl();
    let mut attributes = attributes(&root, chosen.as_ref(), &function.ident);
    let state = &chosen.unwrap_or_else(|| names::state(&function.ident));
    let (definition, value) = if is_generic {
        let used = generics.type_params().map(|parameter| &parameter.ident);
        (
            quote!(#bounds {
                #(#fields,)*
                #[serde(skip)]
                __durable_types: ::core::marker::PhantomData<fn() -> (#(#used,)*)>,
            }),
            quote!(#state { #(#names,)* __durable_types: ::core::marker::PhantomData }),
        )
    } else if function.parameters.is_empty() {
        // A hand-written state without fields is a unit struct, and must be the same in JSON.
        (quote!(;), quote!(#state))
    } else {
        (quote!({ #(#fields),* }), quote!(#state { #(#names),* }))
    };
    if is_generic {
        // The bounds that the user has written: with those of serde beside them, the compiler
        // could not choose.
        attributes.extend(quote!(#[serde(bound = "")]));
    }
    let state_of_types = quote!(#state #types);
    let call = function.call(&state_of_types, value);
    let arguments = function.names().map(|name| quote!(self.#name));
    let mut places = Places::new(&root, !is_generic);
    let bodies = function.body(&root, &state_of_types, &mut places);
    let script = Script {
        root: &root,
        cfg,
        state,
        generics,
        name: name.unwrap_or_else(|| names::in_files(&function.ident)),
        versions,
        output: function.output.value(),
        bodies,
        places: places.table(),
        end: function.end(&root, arguments),
    };
    let implementations = script.implementations();
    // The place of the compiler's error if the name is taken.
    let head = quote_spanned!(state.span()=> #vis struct #state);
    let demands = function.demands(&root);
    Ok(quote! {
        #demands
        #(#cfg)*
        #attributes
        #head #parameters #definition
        #call
        #implementations
    })
}

impl Script<'_> {
    /// `DurableScript` and `IntoFuture`, and why it is no `Future`.
    pub(crate) fn implementations(&self) -> TokenStream {
        let Script {
            root,
            cfg,
            state,
            generics,
            name,
            versions,
            output,
            bodies,
            places,
            end,
        } = self;
        let (parameters, types, bounds) = generics.split_for_impl();
        let predicates = generics
            .where_clause
            .iter()
            .flat_map(|bounds| &bounds.predicates);
        let versions = versions.items(root);
        let run = match end {
            End::Value(end) => quote! {
                async fn run(self) -> #root::Chapter<Self> {
                    #bodies
                    #end
                }
            },
            End::Future(future) => quote! {
                fn run(
                    self,
                ) -> impl ::core::future::Future<Output = #root::Chapter<Self>> + 'static {
                    #bodies
                    #future
                }
            },
        };
        // The place of the compiler's error about a type that is private.
        let output = quote_spanned!(output.span()=> type Output = #output;);
        quote! {
            #(#cfg)*
            impl #parameters #root::DurableScript for #state #types #bounds {
                const NAME: &'static ::core::primitive::str = #name;
                #output
                #versions
                #places

                #run
            }

            #(#cfg)*
            impl #parameters ::core::future::IntoFuture for #state #types #bounds {
                type Output = ::core::result::Result<
                    <Self as #root::DurableScript>::Output,
                    #root::JoinError,
                >;
                type IntoFuture = #root::ScriptHandle<<Self as #root::DurableScript>::Output>;

                #[track_caller]
                fn into_future(self) -> Self::IntoFuture {
                    #root::start(self)
                }
            }

            // It never holds. Where a future is needed, the compiler says what it depends on: that tells the user what to
            // write, and the name of a hidden state does not. The lifetime keeps the compiler from looking here.
            #(#cfg)*
            #[doc(hidden)]
            impl #parameters ::core::future::Future for #state #types
            where
                #(#predicates,)*
                for<'__durable> #root::__private::NotStarted<'__durable>: #root::__private::Started<#state #types>,
            {
                type Output = ();

                fn poll(
                    self: ::core::pin::Pin<&mut Self>,
                    _: &mut ::core::task::Context<'_>,
                ) -> ::core::task::Poll<()> {
                    ::core::unreachable!()
                }
            }
        }
    }
}
