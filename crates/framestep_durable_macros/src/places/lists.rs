//! Lists that loops go over, as far as the code says what is in them: literals, and constants, whose value the
//! script reads when its table is needed.

use std::collections::HashSet;

use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Item, Local, Pat, PatIdent, Stmt, Token, parse_quote};

use crate::arguments::Root;
use crate::places::text::Text;

/// What is in a list.
#[derive(Clone)]
pub(super) enum Source {
    Items(Vec<Expr>),
    /// A constant, or a field of one.
    Constant(Box<Expr>),
}

/// A list that a loop goes over.
#[derive(Clone)]
pub(super) struct List {
    pub(super) source: Source,
    pub(super) order: Order,
    /// Whether the expression is the list itself, and not what a method or an index makes of it.
    is_itself: bool,
}

/// What the turns of a loop are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(super) enum Order {
    /// The items of the list, in their order.
    Items,
    /// Some of them, or several at a time, in their order.
    Forward,
    /// It is not known.
    Any,
}

/// What a body says of the names in it.
#[derive(Default)]
pub(super) struct Names {
    /// Names that may stand for something else than a constant around the function.
    bound: HashSet<String>,
    /// Those of them that a pattern gives, whose scope is not followed here.
    in_patterns: HashSet<String>,
    /// What names in the body stand for, in the order in which they come: `None` of one that is not known.
    known: Vec<(String, Option<List>)>,
    /// Whether the body has imports, whose the names of constants may be, or parts that are not in each build.
    hides_constants: bool,
}

impl Names {
    pub(super) fn of<'i>(block: &Block, parameters: impl Iterator<Item = &'i Ident>) -> Self {
        let mut names = Names {
            bound: parameters.map(ToString::to_string).collect(),
            hides_constants: has_conditions(block.to_token_stream()),
            ..Names::default()
        };
        names.visit_block_mut(&mut block.clone());
        names
    }

    /// How many names are known here.
    pub(super) fn mark(&self) -> usize {
        self.known.len()
    }

    /// Forgets those of a block that is over.
    pub(super) fn forget(&mut self, mark: usize) {
        self.known.truncate(mark);
    }

    /// Notes what a statement gives names to.
    pub(super) fn note(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Item(Item::Const(item)) => {
                let list = self.list_of(&item.expr);
                self.known.push((item.ident.to_string(), list));
            }
            Stmt::Item(Item::Static(item)) => {
                let list = self.list_of(&item.expr);
                self.known.push((item.ident.to_string(), list));
            }
            Stmt::Local(Local { pat, init, .. }) => {
                let Some(name) = name_of(pat) else {
                    return;
                };
                let is_fixed = name.mutability.is_none() && name.by_ref.is_none();
                let init = init.as_ref().filter(|_| is_fixed);
                let list = init.and_then(|init| self.list_of(&init.expr));
                self.known.push((name.ident.to_string(), list));
            }
            _ => {}
        }
    }

    /// The list that a loop goes over, if the code says what is in it.
    pub(super) fn list_of(&self, over: &Expr) -> Option<List> {
        let as_in = |list: List, order: Order| List {
            order: if order > list.order {
                order
            } else {
                list.order
            },
            is_itself: false,
            ..list
        };
        match over {
            Expr::Paren(inner) => self.list_of(&inner.expr),
            Expr::Group(inner) => self.list_of(&inner.expr),
            Expr::Reference(inner) => self.list_of(&inner.expr),
            Expr::Array(array) => Some(list(Source::Items(array.elems.iter().cloned().collect()))),
            Expr::Macro(of) if of.mac.path.is_ident("vec") => {
                let items = Punctuated::<Expr, Token![,]>::parse_terminated;
                let items = of.mac.parse_body_with(items).ok()?;
                Some(list(Source::Items(items.into_iter().collect())))
            }
            Expr::Path(path) => {
                let name = &path.path.segments.last()?.ident.to_string();
                if path.path.get_ident().is_some() {
                    let mut known = self.known.iter().rev();
                    if let Some((_, list)) = known.find(|(known, _)| name == known) {
                        let is_it = !self.in_patterns.contains(name);
                        return list.clone().filter(|_| is_it);
                    }
                }
                let first = path.path.segments.first()?.ident.to_string();
                let is_around = !self.hides_constants && !self.bound.contains(&first);
                let is_constant = is_constant(name) && is_around;
                is_constant.then(|| list(Source::Constant(Box::new(over.clone()))))
            }
            Expr::Field(field) => {
                let of = self.list_of(&field.base)?;
                let member = &field.member;
                match of.source {
                    Source::Constant(of_field) if of.is_itself => {
                        let value = parse_quote!((#of_field).#member);
                        Some(list(Source::Constant(Box::new(value))))
                    }
                    _ => None,
                }
            }
            Expr::MethodCall(call) => {
                let of = self.list_of(&call.receiver)?;
                Some(as_in(of, order_of(&call.method.to_string())))
            }
            Expr::Index(index) if matches!(*index.index, Expr::Range(_)) => {
                Some(as_in(self.list_of(&index.expr)?, Order::Forward))
            }
            Expr::Range(range) => {
                let Some(Expr::MethodCall(end)) = range.end.as_deref() else {
                    return None;
                };
                let of = self
                    .list_of(&end.receiver)
                    .filter(|_| end.method == "len")?;
                let is_zero = |start: &Expr| start.to_token_stream().to_string() == "0";
                let begins = range.start.as_deref().is_some_and(is_zero);
                Some(if begins {
                    of
                } else {
                    as_in(of, Order::Forward)
                })
            }
            _ => None,
        }
    }
}

/// The name that a `let` gives to all of a value.
fn name_of(pat: &Pat) -> Option<&PatIdent> {
    match pat {
        Pat::Type(typed) => name_of(&typed.pat),
        Pat::Ident(name) if name.subpat.is_none() => Some(name),
        _ => None,
    }
}

fn list(source: Source) -> List {
    List {
        source,
        order: Order::Items,
        is_itself: true,
    }
}

/// What an iterator makes of the order of a list.
fn order_of(method: &str) -> Order {
    match method {
        "iter" | "into_iter" | "copied" | "cloned" | "enumerate" | "lines" | "map" | "zip"
        | "inspect" | "take" | "take_while" => Order::Items,
        "skip" | "skip_while" | "step_by" | "filter" | "filter_map" | "flat_map" | "chunks"
        | "windows" => Order::Forward,
        _ => Order::Any,
    }
}

/// Whether names of this form are those of constants.
fn is_constant(name: &str) -> bool {
    name.contains(char::is_uppercase) && !name.contains(char::is_lowercase)
}

/// Whether there is an attribute `cfg` in a body.
fn has_conditions(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|tree| {
        let TokenTree::Group(group) = tree else {
            return false;
        };
        let first = group.stream().into_iter().next();
        let is_it = |first: TokenTree| first.to_string().starts_with("cfg");
        group.delimiter() == Delimiter::Bracket && first.is_some_and(is_it)
            || has_conditions(group.stream())
    })
}

/// Whether there is a call of `place` in a loop, which labels its items.
pub(super) fn is_labelled(tokens: TokenStream) -> bool {
    let mut trees = tokens.into_iter().peekable();
    while let Some(tree) = trees.next() {
        let is_it = match tree {
            TokenTree::Ident(ident) => {
                ident == "place" && matches!(trees.peek(), Some(TokenTree::Group(_)))
            }
            TokenTree::Group(group) => is_labelled(group.stream()),
            _ => false,
        };
        if is_it {
            return true;
        }
    }
    false
}

impl List {
    /// Whether its items stand in the script.
    pub(super) fn is_in_code(&self) -> bool {
        matches!(self.source, Source::Items(_))
    }

    /// What tells it from other constants.
    pub(super) fn text(&self) -> String {
        match &self.source {
            Source::Items(items) => quote!(#(#items),*).to_string(),
            Source::Constant(value) => value.to_token_stream().to_string(),
        }
    }

    /// The list as an expression, for the loop of this number.
    pub(super) fn expression(&self, of: u16, root: &Root) -> TokenStream {
        let order = match self.order {
            Order::Items => quote!(Items),
            Order::Forward => quote!(Forward),
            Order::Any => quote!(Any),
        };
        let items = match &self.source {
            Source::Items(items) => {
                let items = items.iter().map(|item| {
                    let text = Text::of(item.to_token_stream());
                    let (hash, sketch) = (text.hash(), text.sketch());
                    quote!((#hash, #sketch))
                });
                quote!(#root::__private::Items::Known(&[#(#items),*]))
            }
            Source::Constant(value) => quote!(#root::__private::Items::Read(|| {
                use #root::__private::{Counts as _, Hides as _, Tells as _};
                (&&&#root::__private::Value(&#value)).known()
            })),
        };
        quote!(#root::__private::List { of: #of, order: #root::__private::Order::#order, items: #items })
    }
}

/// It changes nothing.
impl VisitMut for Names {
    fn visit_pat_ident_mut(&mut self, pat: &mut PatIdent) {
        self.bound.insert(pat.ident.to_string());
        self.in_patterns.insert(pat.ident.to_string());
        visit_mut::visit_pat_ident_mut(self, pat);
    }

    fn visit_local_mut(&mut self, local: &mut Local) {
        match name_of(&local.pat) {
            Some(name) => {
                self.bound.insert(name.ident.to_string());
            }
            None => self.visit_pat_mut(&mut local.pat),
        }
        if let Some(init) = &mut local.init {
            self.visit_local_init_mut(init);
        }
    }

    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        match stmt {
            Stmt::Item(item) => self.note_item(item),
            Stmt::Macro(_) => self.note_made(stmt.to_token_stream()),
            Stmt::Local(_) | Stmt::Expr(..) => visit_mut::visit_stmt_mut(self, stmt),
        }
    }
}

impl Names {
    fn note_item(&mut self, item: &Item) {
        let name = match item {
            Item::Const(item) => &item.ident,
            Item::Static(item) => &item.ident,
            Item::Fn(item) => &item.sig.ident,
            Item::Struct(item) => &item.ident,
            Item::Enum(item) => &item.ident,
            Item::Union(item) => &item.ident,
            Item::Type(item) => &item.ident,
            Item::Trait(item) => &item.ident,
            Item::Mod(item) => &item.ident,
            Item::Macro(item) => return self.note_made(item.mac.tokens.clone()),
            // Where it stands, and of which items, decides what its names are.
            Item::Use(_) => {
                self.hides_constants = true;
                return;
            }
            _ => return,
        };
        self.bound.insert(name.to_string());
    }

    /// Notes what a macro may give names to.
    fn note_made(&mut self, tokens: TokenStream) {
        let mut names_next = false;
        for tree in tokens {
            match tree {
                TokenTree::Ident(ident) => {
                    let word = ident.to_string();
                    if ["let", "const", "static", "ref", "mut"].contains(&&*word) {
                        names_next = true;
                    } else if std::mem::take(&mut names_next) {
                        self.bound.insert(word);
                    }
                }
                TokenTree::Group(group) => self.note_made(group.stream()),
                _ => {}
            }
        }
    }
}
