//! The items that the attribute makes of a state and its chapters.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Ident, LitStr};

use crate::arguments::{Arguments, Root, Versions};
use crate::function::Function;
use crate::names;

/// What a script is made of.
pub(crate) struct Script<'a> {
    pub(crate) root: &'a Root,
    pub(crate) cfg: &'a [Attribute],
    pub(crate) state: &'a Ident,
    pub(crate) name: LitStr,
    pub(crate) versions: Versions,
    pub(crate) output: TokenStream,
    /// The functions with the bodies.
    pub(crate) bodies: TokenStream,
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

/// What stands on the type of a state. Lints look at the function alone.
pub(crate) fn attributes(root: &Root, docs: &str) -> TokenStream {
    let serde = quote!(#root::__private::serde);
    let path = serde.to_string();
    quote! {
        #[doc = #docs]
        #[must_use = "a script does nothing until it is started, or awaited in another script"]
        #[derive(#serde::Serialize, #serde::Deserialize)]
        #[serde(crate = #path)]
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
pub(crate) fn of_function(arguments: Arguments, function: &Function) -> TokenStream {
    let Arguments {
        name,
        versions,
        root,
    } = arguments;
    let Function { vis, state, .. } = function;
    let cfg = &function.attributes.cfg;
    let fields = function.fields();
    let names = function.names();
    // A hand-written state without fields is a unit struct, and must be the same in JSON.
    let (definition, value) = if function.parameters.is_empty() {
        (quote!(;), quote!(#state))
    } else {
        (quote!({ #(#fields),* }), quote!(#state { #(#names),* }))
    };
    let docs = format!("The state of the script `{}`.", function.ident);
    let attributes = attributes(&root, &docs);
    let call = function.call(state, value);
    let arguments = function.names().map(|name| quote!(self.#name));
    let script = Script {
        root: &root,
        cfg,
        state,
        name: name.unwrap_or_else(|| names::in_files(&function.ident)),
        versions,
        output: function.output.value(),
        bodies: function.body(&root, state),
        end: function.end(&root, arguments),
    };
    let implementations = script.implementations();
    // The place of the compiler's error if the name is taken.
    let head = quote_spanned!(state.span()=> #vis struct #state);
    quote! {
        #(#cfg)*
        #attributes
        #head #definition
        #call
        #implementations
    }
}

impl Script<'_> {
    /// `DurableScript` and `IntoFuture`.
    pub(crate) fn implementations(&self) -> TokenStream {
        let Script {
            root,
            cfg,
            state,
            name,
            versions,
            output,
            bodies,
            end,
        } = self;
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
            impl #root::DurableScript for #state {
                const NAME: &'static ::core::primitive::str = #name;
                #output
                #versions

                #run
            }

            #(#cfg)*
            impl ::core::future::IntoFuture for #state {
                type Output = ::core::result::Result<
                    <Self as #root::DurableScript>::Output,
                    #root::JoinError,
                >;
                type IntoFuture = #root::Handle<<Self as #root::DurableScript>::Output>;

                #[track_caller]
                fn into_future(self) -> Self::IntoFuture {
                    #root::start(self)
                }
            }
        }
    }
}
