//! Places: which statement of a script makes a call.
//!
//! Each statement that may call something gets a number, and an entry in a table with hashes of its text,
//! without format and comments. The expansion notes the number before the statement, so that what helpers
//! do is known by the statement of the script that has called them. A note holds until the next one, also
//! across awaits. Futures that may be polled in turns keep notes of their own: branches of the macros that
//! poll several futures, and `async` blocks.

mod lists;
mod loops;
mod text;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Block, Expr, ExprAsync, Macro, Pat, Path, Result, Stmt, Token, parse_quote};

use crate::arguments::Root;
use crate::places::lists::{List, Names, Order, is_labelled};
use crate::places::loops::{is_loop, turns_of};
use crate::places::text::{Text, head_of, may_call, may_change, shape_of};

/// An entry of the table.
struct Place {
    full: u32,
    head: u16,
    shape: u16,
    sketch: u32,
    parent: u16,
    /// Whether it is a call whose result nothing uses.
    drops_result: bool,
    is_loop: bool,
    span: Span,
}

/// The places of a script.
pub(crate) struct Places<'a> {
    root: &'a Root,
    list: Vec<Place>,
    /// The statement whose parts are visited.
    parent: u16,
    /// Whether that is a part of a closure, which calls what it calls as the statement that calls it.
    is_in_closure: bool,
    /// Whether that is a part of a future that may run several times at once.
    is_in_future: bool,
    /// What loops go over, by their numbers.
    lists: Vec<(u16, List)>,
    names: Names,
    /// Whether the table may have lists: it is one for all types, and all of its bodies are in each build.
    has_lists: bool,
}

impl<'a> Places<'a> {
    /// The place 0 is of what no statement does.
    pub(crate) fn new(root: &'a Root, has_lists: bool) -> Self {
        let list = vec![Place {
            full: 0,
            head: 0,
            shape: 0,
            sketch: 0,
            parent: 0,
            drops_result: false,
            is_loop: false,
            span: Span::call_site(),
        }];
        Places {
            root,
            list,
            parent: 0,
            is_in_closure: false,
            is_in_future: false,
            lists: Vec::new(),
            names: Names::default(),
            has_lists,
        }
    }

    /// Numbers the statements of a body. One that does not parse stays as it is: the compiler says what is
    /// wrong in it.
    pub(crate) fn body<'i>(
        &mut self,
        name: &Ident,
        parameters: impl Iterator<Item = &'i Ident>,
        body: &Group,
    ) -> Group {
        let Ok(mut block) = syn::parse2::<Block>(TokenTree::from(body.clone()).into()) else {
            return body.clone();
        };
        let text = Text::of(name.to_token_stream());
        self.parent = 0;
        self.parent = self.push(&text, &text, 0, name.span());
        self.names = Names::of(&block, parameters);
        self.block(&mut block);
        let statements = block.stmts.iter().map(ToTokens::to_token_stream);
        let mut group = Group::new(Delimiter::Brace, statements.collect());
        group.set_span(body.span());
        group
    }

    /// The table.
    pub(crate) fn table(&self) -> TokenStream {
        let root = self.root;
        let places = self.list.iter().map(|place| {
            let Place {
                full,
                head,
                shape,
                sketch,
                parent,
                drops_result,
                is_loop,
                span,
            } = place;
            let line = quote_spanned!(*span=> ::core::line!());
            let drops = drops_result.then(|| quote!(.dropping_its_result()));
            let loops = is_loop.then(|| quote!(.looping()));
            quote!(#root::__private::Place::new(#full, #sketch, [#head, #shape, #parent], #line) #drops #loops)
        });
        let lists = self
            .lists
            .iter()
            .map(|(of, list)| list.expression(*of, root));
        let has_lists = !self.lists.is_empty();
        let allow = has_lists
            .then(|| quote!(#[allow(clippy::all, clippy::nursery, clippy::pedantic, deprecated)]));
        let lists = has_lists.then(|| {
            quote!(.with_lists(|places| {
                static ALL: #root::__private::AllPlaces = #root::__private::AllPlaces::new();
                ALL.get_or_init(|| #root::__private::with_items(places, &[#(#lists),*]))
            }))
        });
        quote! {
            #allow
            const PLACES: #root::__private::Places =
                #root::__private::Places::new(::core::file!(), &[#(#places),*]) #lists;
        }
    }

    /// Adds a place. One too many has the number of none.
    fn push(&mut self, full: &Text, head: &Text, shape: u16, span: Span) -> u16 {
        let Ok(number) = u16::try_from(self.list.len()) else {
            return 0;
        };
        self.list.push(Place {
            full: full.hash(),
            head: head.folded(),
            shape,
            sketch: full.sketch(),
            parent: self.parent,
            drops_result: false,
            is_loop: false,
            span,
        });
        number
    }

    /// Adds the place of a statement or an expression.
    fn add(&mut self, of: &impl ToTokens) -> u16 {
        let tokens = of.to_token_stream();
        let head = head_of(tokens.clone());
        let shape = shape_of(head.clone());
        let span = span_of(tokens.clone());
        self.push(&Text::of(tokens), &Text::of(head), shape, span)
    }

    /// The span of a note about `of`: of the expansion, for lints, in the line of the code.
    fn note_span(of: &impl ToTokens) -> Span {
        Span::mixed_site().located_at(span_of(of.to_token_stream()))
    }

    fn note(&self, number: u16, of: &impl ToTokens) -> Stmt {
        self.note_by("note_place", number, of)
    }

    /// Calls a function with the number of a statement.
    fn note_by(&self, function: &str, number: u16, of: &impl ToTokens) -> Stmt {
        let root = self.root;
        let span = Self::note_span(of);
        let function = Ident::new(function, span);
        let note = quote_spanned!(span=> #root::__private::#function(#number););
        parse_quote!(#note)
    }

    /// Visits the parts of a statement.
    fn within(&mut self, number: u16, visit: impl FnOnce(&mut Self)) {
        let before = std::mem::replace(&mut self.parent, number);
        visit(self);
        self.parent = before;
    }

    fn block(&mut self, block: &mut Block) {
        if self.is_in_closure {
            return visit_mut::visit_block_mut(self, block);
        }
        let known = self.names.mark();
        for mut stmt in std::mem::take(&mut block.stmts) {
            self.names.note(&stmt);
            if !matches!(stmt, Stmt::Item(_)) && may_call(&stmt.to_token_stream()) {
                let number = self.add(&stmt);
                if number != 0 {
                    let place = &mut self.list[usize::from(number)];
                    place.drops_result = drops_result(&stmt);
                    if is_loop(&stmt) {
                        place.is_loop = true;
                        place.head = Text::of(turns_of(stmt.clone())).folded();
                    }
                }
                let note = self.note(number, &stmt);
                block.stmts.push(note);
                let goes_over = self.goes_over(number, &stmt);
                let goes_over = goes_over.filter(|list| list.order == Order::Items);
                if goes_over.is_none() {
                    self.note_lookups(number, &stmt);
                }
                self.within(number, |this| this.visit_stmt_mut(&mut stmt));
                // What a constant is, its items say as well.
                let is_known = goes_over.is_some();
                let tells = goes_over.is_none_or(|list| list.is_in_code())
                    && self.tell_turns(number, &mut stmt);
                if is_known || tells {
                    block.stmts.push(self.count_turns(number, &mut stmt));
                }
            }
            block.stmts.push(stmt);
        }
        self.names.forget(known);
    }

    /// Notes the list that a statement goes over, if it does and the code says what is in it.
    fn goes_over(&mut self, number: u16, stmt: &Stmt) -> Option<List> {
        let Stmt::Expr(Expr::ForLoop(repeats), _) = stmt else {
            return None;
        };
        if number == 0 || !self.has_lists || is_labelled(repeats.body.to_token_stream()) {
            return None;
        }
        let mut list = self.names.list_of(&repeats.expr)?;
        if self.is_in_future && list.order == Order::Items {
            list.order = Order::Forward;
        }
        self.lists.push((number, list.clone()));
        Some(list)
    }

    /// An expression that stands for a block: that of an arm.
    fn arm(&mut self, body: &mut Expr) {
        match body {
            Expr::Block(block) if block.label.is_none() && block.attrs.is_empty() => {
                self.block(&mut block.block);
            }
            _ if self.is_in_closure || !may_call(&body.to_token_stream()) => {
                self.visit_expr_mut(body);
            }
            Expr::ForLoop(_) => {
                let mut block = parse_quote!({ #body });
                self.block(&mut block);
                *body = parse_quote!(#block);
            }
            _ => {
                let number = self.add(body);
                let note = self.note(number, body);
                self.within(number, |this| this.visit_expr_mut(body));
                *body = parse_quote!({ #note #body });
            }
        }
    }

    /// The branches of the macros that poll several futures. One of another crate, such as `futures::select!`, may
    /// demand other things of what it polls: its branches have no places of their own.
    fn call(&mut self, mac: &mut Macro) {
        let Some(last) = mac.path.segments.last() else {
            return;
        };
        if is_random(mac) {
            let error = "`select!` of another crate polls its branches in random order, which a restored script does not \
                         repeat: use `select!` of `framestep_durable`, or `select_biased!` or `biased;`";
            let error = quote_spanned!(last.ident.span()=> #error);
            mac.path = parse_quote!(::core::compile_error);
            mac.tokens = error;
            return;
        }
        if self.is_in_closure || is_of_another_crate(&mac.path) {
            return;
        }
        let tokens = mac.tokens.clone();
        match last.ident.to_string().as_str() {
            "select" => {
                // The places of a macro with another syntax are not kept.
                let (known, lists) = (self.list.len(), self.lists.len());
                let branches = |input: ParseStream<'_>| self.select(input);
                if let Ok(tokens) = branches.parse2(tokens) {
                    mac.tokens = tokens;
                } else {
                    self.list.truncate(known);
                    self.lists.truncate(lists);
                }
            }
            "join" | "try_join" => {
                let futures = Punctuated::<Expr, Token![,]>::parse_terminated;
                if let Ok(futures) = futures.parse2(tokens) {
                    let futures = futures.into_iter().map(|future| self.branch(future).1);
                    let futures: Vec<Expr> = futures.collect();
                    mac.tokens = quote!(#(#futures),*);
                }
            }
            _ => {}
        }
    }

    /// A future that is polled beside others, with its number.
    fn branch(&mut self, mut future: Expr) -> (u16, Expr) {
        let number = self.add(&future);
        self.within(number, |this| match &mut future {
            Expr::Async(future) => this.block(&mut future.block),
            future => this.visit_expr_mut(future),
        });
        let root = self.root;
        // A literal, so that what the expression borrows lives as long as without it.
        let future = parse_quote!(#root::__private::At {
            place: #root::__private::place_of(#number),
            branch: #root::__private::Branch::New { operand: #future },
        });
        (number, future)
    }

    fn select(&mut self, input: ParseStream<'_>) -> Result<TokenStream> {
        let mut out = TokenStream::new();
        if input.peek(syn::Ident) && input.peek2(Token![;]) {
            let (first, semicolon): (Ident, Token![;]) = (input.parse()?, input.parse()?);
            out.extend(quote!(#first #semicolon));
        }
        while !input.is_empty() {
            if let Some(token) = input.parse::<Option<Token![else]>>()? {
                let arrow: Token![=>] = input.parse()?;
                let mut handler: Expr = input.parse()?;
                self.arm(&mut handler);
                input.parse::<Option<Token![,]>>()?;
                out.extend(quote!(#token #arrow #handler,));
                continue;
            }
            let pattern = Pat::parse_multi_with_leading_vert(input)?;
            let equals: Token![=] = input.parse()?;
            let future: Expr = input.parse()?;
            let mut condition = TokenStream::new();
            if input.peek(Token![,]) {
                let (comma, when): (Token![,], Token![if]) = (input.parse()?, input.parse()?);
                let expr: Expr = input.parse()?;
                condition = quote!(#comma #when #expr);
            }
            let arrow: Token![=>] = input.parse()?;
            let mut handler: Expr = if input.peek(syn::token::Brace) {
                let block: Block = input.parse()?;
                parse_quote!(#block)
            } else {
                input.parse()?
            };
            input.parse::<Option<Token![,]>>()?;
            let (number, future) = self.branch(future);
            self.within(number, |this| this.arm(&mut handler));
            out.extend(quote!(#pattern #equals #future #condition #arrow #handler,));
        }
        Ok(out)
    }

    /// A block that is polled when its future is.
    fn future(&mut self, future: &mut ExprAsync) -> Expr {
        let before = (self.is_in_closure, self.is_in_future);
        (self.is_in_closure, self.is_in_future) = (false, true);
        self.block(&mut future.block);
        (self.is_in_closure, self.is_in_future) = before;
        let (root, number) = (self.root, self.parent);
        parse_quote!(#root::__private::InPlace {
            place: #root::__private::place_of(#number),
            future: #future,
        })
    }
}

impl VisitMut for Places<'_> {
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}

    fn visit_block_mut(&mut self, block: &mut Block) {
        self.block(block);
    }

    fn visit_macro_mut(&mut self, mac: &mut Macro) {
        self.call(mac);
    }

    fn visit_arm_mut(&mut self, arm: &mut syn::Arm) {
        if let Some((_, guard)) = &mut arm.guard {
            self.visit_expr_mut(guard);
        }
        self.arm(&mut arm.body);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Async(future) if self.parent != 0 => *expr = self.future(future),
            Expr::Closure(closure) => {
                let before = std::mem::replace(&mut self.is_in_closure, true);
                if closure.asyncness.is_some() {
                    let body = &closure.body;
                    let mut future: ExprAsync = parse_quote!(async { #body });
                    let future = self.future(&mut future);
                    *closure.body = parse_quote!({ #future.await });
                } else {
                    self.visit_expr_mut(&mut closure.body);
                }
                self.is_in_closure = before;
            }
            // The condition is evaluated again after the body, whose last note would hold.
            Expr::While(repeats) => {
                self.visit_expr_mut(&mut repeats.cond);
                let first = first_of(&mut repeats.cond);
                if !self.is_in_closure && may_call(&first.to_token_stream()) {
                    let (root, number) = (self.root, self.parent);
                    let span = Self::note_span(first);
                    let note = quote_spanned!(span=> #root::__private::note_place(#number));
                    *first = parse_quote!((#note, #first).1);
                }
                self.block(&mut repeats.body);
            }
            Expr::Const(_) => {}
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }
}

/// Whether the path of a macro names a crate that has none of framestep's.
fn is_of_another_crate(path: &Path) -> bool {
    let first = path
        .segments
        .first()
        .map(|first| first.ident.unraw().to_string());
    let is_here = |first: String| {
        ["crate", "self", "super"].contains(&first.as_str()) || first.contains("framestep")
    };
    path.segments.len() > 1 && !first.is_some_and(is_here)
}

/// Whether it is a `select!` that polls its branches in random order: that of `futures`, and that of tokio unless it begins
/// with `biased;`. Of any other path it is not known: a game may call framestep by another name.
fn is_random(mac: &Macro) -> bool {
    let is_biased = mac.tokens.clone().into_iter().next();
    let is_biased = is_biased.is_some_and(|first| first.to_string() == "biased");
    let segments = &mac.path.segments;
    let (Some(first), Some(last)) = (segments.first(), segments.last()) else {
        return false;
    };
    let is_theirs = ["futures", "futures_util", "tokio"].contains(&&*first.ident.to_string());
    is_theirs && segments.len() > 1 && last.ident == "select" && !is_biased
}

/// Whether a statement is a call of a function whose result nothing uses, and whose arguments change nothing
/// around it. What such a call reads is of no consequence for the script if nothing else of it is done.
fn drops_result(stmt: &Stmt) -> bool {
    let Stmt::Expr(expr, Some(_)) = stmt else {
        return false;
    };
    let called = match expr {
        Expr::Await(awaited) => &*awaited.base,
        expr => expr,
    };
    let Expr::Call(call) = called else {
        return false;
    };
    matches!(*call.func, Expr::Path(_)) && !may_change(call.args.to_token_stream())
}

/// The span of the first token.
fn span_of(tokens: TokenStream) -> Span {
    let first = tokens.into_iter().next();
    first.map_or_else(Span::call_site, |first| first.span())
}

/// The part of a condition that is evaluated first.
fn first_of(mut condition: &mut Expr) -> &mut Expr {
    let is_both = |expr: &Expr| match expr {
        Expr::Binary(both) => matches!(both.op, BinOp::And(_) | BinOp::Or(_)),
        expr => matches!(expr, Expr::Let(_)),
    };
    while is_both(condition) {
        condition = match condition {
            Expr::Let(binds) => &mut binds.expr,
            Expr::Binary(both) => &mut both.left,
            first => return first,
        };
    }
    condition
}
