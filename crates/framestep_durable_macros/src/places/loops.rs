//! Loops, and what they go over that no table tells: each turn tells its item, so that a save says what a loop has
//! gone over.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Block, Expr, ExprForLoop, ExprLoop, ExprMethodCall, ExprWhile, Local, Pat, PatIdent, Stmt,
    parse_quote,
};

use crate::places::Places;
use crate::places::lists::{List, Names, Order, is_labelled};
use crate::places::text::may_call;

pub(super) fn is_loop(stmt: &Stmt) -> bool {
    let expr = match stmt {
        Stmt::Expr(expr, _) => expr,
        Stmt::Local(local) => match &local.init {
            Some(init) => &*init.expr,
            None => return false,
        },
        Stmt::Item(_) | Stmt::Macro(_) => return false,
    };
    matches!(expr, Expr::ForLoop(_) | Expr::Loop(_) | Expr::While(_))
}

/// What decides how often a loop goes round, apart from its statements with places of their own: what it goes
/// over, and what changes variables or leaves it.
pub(super) fn turns_of(mut stmt: Stmt) -> TokenStream {
    struct Turns;
    impl VisitMut for Turns {
        fn visit_block_mut(&mut self, block: &mut Block) {
            block.stmts.retain(|stmt| {
                let decides = matches!(stmt, Stmt::Expr(..) | Stmt::Macro(_));
                decides && !may_call(&stmt.to_token_stream())
            });
        }
    }
    Turns.visit_stmt_mut(&mut stmt);
    stmt.into_token_stream()
}

/// Whether a script may be saved in it.
fn may_wait(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Group(group) => may_wait(group.stream()),
        TokenTree::Ident(ident) => ident == "await",
        TokenTree::Punct(punct) => punct.as_char() == '!',
        TokenTree::Literal(_) => false,
    })
}

impl Places<'_> {
    /// Notes the constants that a loop looks its items up in.
    pub(super) fn note_lookups(&mut self, number: u16, stmt: &Stmt) {
        if number != 0 && self.has_lists {
            let lists = looked_up_in(&self.names, stmt);
            self.lists
                .extend(lists.into_iter().map(|list| (number, list)));
        }
    }

    /// Makes a loop tell what it goes over, unless a constant or labels do. Returns whether its turns count: because they
    /// are told, or because those of a loop in it are others in each of them.
    pub(super) fn tell_turns(&self, number: u16, stmt: &mut Stmt) -> bool {
        let Some(body) = body_of(stmt) else {
            return false;
        };
        let body = body.to_token_stream();
        if number == 0 || !may_wait(body.clone()) || is_labelled(body) {
            return false;
        }
        let Stmt::Expr(expr, _) = stmt else {
            return false;
        };
        let has_loops = has_loops(expr);
        let tells = match expr {
            Expr::ForLoop(repeats) if tells_item(repeats) => {
                self.tell_item(number, repeats);
                true
            }
            Expr::ForLoop(repeats) => self.tell_looked_up(number, Vec::new(), &mut repeats.body),
            Expr::Loop(repeats) => self.tell_looked_up(number, Vec::new(), &mut repeats.body),
            Expr::While(repeats) => {
                let names = match &*repeats.cond {
                    Expr::Let(of) if !may_wait(of.expr.to_token_stream()) => names_of(&of.pat),
                    _ => Vec::new(),
                };
                self.tell_looked_up(number, names, &mut repeats.body)
            }
            _ => false,
        };
        tells || has_loops
    }

    /// Makes a loop count its turns. What has to stand before it.
    pub(super) fn count_turns(&self, number: u16, stmt: &mut Stmt) -> Stmt {
        let (begin, turn) = (
            self.note_by("begin_turns", number, stmt),
            self.note_by("begin_turn", number, stmt),
        );
        if let Some(body) = body_of(stmt) {
            body.stmts.insert(0, turn);
        }
        begin
    }

    /// Binds the item of each turn to a name, which it is told by, before its own pattern.
    fn tell_item(&self, number: u16, repeats: &mut ExprForLoop) {
        let item = Ident::new("item", Span::mixed_site());
        let told = self.tell(number, &item, &repeats.pat);
        let pat = std::mem::replace(&mut *repeats.pat, parse_quote!(#item));
        let bind: Stmt = parse_quote!(let #pat = #item;);
        repeats.body.stmts.splice(0..0, [told, bind]);
    }

    /// Makes each turn tell these names, and what it looks up in its statements. Whether there is something.
    fn tell_looked_up(&self, number: u16, names: Vec<Ident>, body: &mut Block) -> bool {
        let (mut stmts, mut count) = (Vec::new(), 0);
        let mut tell = |names: Vec<Ident>, stmts: &mut Vec<Stmt>| {
            count += names.len();
            for name in names {
                stmts.push(self.tell(number, &name, &name));
            }
        };
        tell(names, &mut stmts);
        for stmt in std::mem::take(&mut body.stmts) {
            let found = match &stmt {
                Stmt::Local(local) if looks_up(local) => names_of(&local.pat),
                _ => Vec::new(),
            };
            stmts.push(stmt);
            tell(found, &mut stmts);
        }
        body.stmts = stmts;
        count > 0
    }

    /// A note of what a turn is about.
    fn tell(&self, number: u16, name: &Ident, of: &impl ToTokens) -> Stmt {
        let root = self.root;
        let span = Self::note_span(of);
        let note = quote_spanned!(span=> {
            use #root::__private::{HidesItem as _, TellsItem as _};
            #root::__private::item_of_loop(#number, (&&#root::__private::Item(&#name)).told());
        });
        parse_quote!(#note)
    }
}

/// The body of a loop.
fn body_of(stmt: &mut Stmt) -> Option<&mut Block> {
    let Stmt::Expr(expr, _) = stmt else {
        return None;
    };
    match expr {
        Expr::ForLoop(ExprForLoop { body, .. })
        | Expr::While(ExprWhile { body, .. })
        | Expr::Loop(ExprLoop { body, .. }) => Some(body),
        _ => None,
    }
}

/// Whether there is a loop in a loop in which a script may be saved.
fn has_loops(expr: &Expr) -> bool {
    struct Loops(usize);
    impl VisitMut for Loops {
        fn visit_expr_mut(&mut self, expr: &mut Expr) {
            let is_loop = matches!(expr, Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_));
            if is_loop && may_wait(expr.to_token_stream()) {
                self.0 += 1;
            }
            visit_mut::visit_expr_mut(self, expr);
        }
    }
    let mut loops = Loops(0);
    loops.visit_expr_mut(&mut expr.clone());
    loops.0 > 1
}

/// Whether each turn has an item that says more than its number.
fn tells_item(repeats: &ExprForLoop) -> bool {
    let over = match &*repeats.expr {
        Expr::Paren(inner) => &*inner.expr,
        over => over,
    };
    let is_counted = matches!(over, Expr::Range(_));
    let is_ignored = matches!(&*repeats.pat, Pat::Wild(_));
    let by_reference = has_word(repeats.pat.to_token_stream(), "ref");
    let has_labels = has_word(repeats.expr.to_token_stream(), "labelled");
    !is_counted && !is_ignored && !by_reference && !has_labels
}

fn has_word(tokens: TokenStream, word: &str) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Group(group) => has_word(group.stream(), word),
        tree => tree.to_string() == word,
    })
}

/// The names that a pattern gives.
fn names_of(pat: &Pat) -> Vec<Ident> {
    struct Given(Vec<Ident>);
    impl VisitMut for Given {
        fn visit_pat_ident_mut(&mut self, pat: &mut PatIdent) {
            // Others are constants and variants.
            if !pat.ident.to_string().contains(char::is_uppercase) {
                self.0.push(pat.ident.clone());
            }
            visit_mut::visit_pat_ident_mut(self, pat);
        }
    }
    let mut given = Given(Vec::new());
    given.visit_pat_mut(&mut pat.clone());
    given.0
}

/// The methods that look something up in a list.
const LOOKS_UP: [&str; 7] = ["get", "nth", "next", "first", "last", "pop", "pop_front"];

/// Whether a `let` binds what it finds in a list.
fn looks_up(local: &Local) -> bool {
    struct Finds(bool);
    impl VisitMut for Finds {
        fn visit_expr_index_mut(&mut self, _: &mut syn::ExprIndex) {
            self.0 = true;
        }

        fn visit_expr_method_call_mut(&mut self, call: &mut ExprMethodCall) {
            self.0 |= LOOKS_UP.contains(&&*call.method.to_string());
            visit_mut::visit_expr_method_call_mut(self, call);
        }
    }
    let Some(init) = &local.init else {
        return false;
    };
    if may_wait(init.expr.to_token_stream()) {
        return false;
    }
    let mut finds = Finds(false);
    finds.visit_expr_mut(&mut init.expr.clone());
    finds.0
}

/// The constants that the body of a loop looks something up in, apart from what its turns tell.
fn looked_up_in(names: &Names, stmt: &Stmt) -> Vec<List> {
    struct Finds<'a> {
        names: &'a Names,
        found: Vec<List>,
    }
    impl Finds<'_> {
        fn note(&mut self, base: &Expr) {
            let Some(mut list) = self.names.list_of(base) else {
                return;
            };
            list.order = Order::Any;
            let text = list.text();
            if self.found.iter().all(|known| known.text() != text) {
                self.found.push(list);
            }
        }
    }
    impl VisitMut for Finds<'_> {
        fn visit_local_mut(&mut self, local: &mut Local) {
            if !looks_up(local) {
                visit_mut::visit_local_mut(self, local);
            }
        }

        fn visit_expr_index_mut(&mut self, index: &mut syn::ExprIndex) {
            self.note(&index.expr);
            visit_mut::visit_expr_index_mut(self, index);
        }

        fn visit_expr_method_call_mut(&mut self, call: &mut ExprMethodCall) {
            if LOOKS_UP.contains(&&*call.method.to_string()) {
                self.note(&call.receiver);
            }
            visit_mut::visit_expr_method_call_mut(self, call);
        }
    }
    let mut finds = Finds {
        names,
        found: Vec::new(),
    };
    let (condition, body) = match stmt {
        Stmt::Expr(Expr::ForLoop(repeats), _) => (None, &repeats.body),
        Stmt::Expr(Expr::While(repeats), _) => (Some(&repeats.cond), &repeats.body),
        Stmt::Expr(Expr::Loop(repeats), _) => (None, &repeats.body),
        _ => return Vec::new(),
    };
    if may_wait(body.to_token_stream()) && !is_labelled(body.to_token_stream()) {
        if let Some(condition) = condition.filter(|of| !matches!(***of, Expr::Let(_))) {
            finds.visit_expr_mut(&mut condition.clone());
        }
        finds.visit_block_mut(&mut body.clone());
    }
    finds.found
}
