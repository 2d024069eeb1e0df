//! Functions that make the state of a script.

use crate::script::DurableScript;

/// A function that makes the state of a durable script, with parameters `P`: one with
/// [`#[durable]`](crate::durable). For [`Registry::script`](crate::Registry::script).
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not make the state of a durable script",
    label = "not a function with `#[durable]` of at most 12 parameters",
    note = "put `#[durable]` on the `async fn`, and pass the function without a call: `.script(door)`",
    note = "a script that implements `DurableScript` by hand is added with `Registry::with::<Type>()`, and so is one of \
            more parameters, with `#[durable(state = Type)]`"
)]
pub trait ScriptFn<P> {
    /// The script.
    type Script: DurableScript;
}

macro_rules! functions {
    ($(($($parameter:ident)*))*) => {
        $(impl<F, S, $($parameter),*> ScriptFn<($($parameter,)*)> for F
        where
            F: Fn($($parameter),*) -> S,
            S: DurableScript,
        {
            type Script = S;
        })*
    };
}

functions! {
    () (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E G) (A B C D E G H) (A B C D E G H I)
    (A B C D E G H I J) (A B C D E G H I J K) (A B C D E G H I J K L) (A B C D E G H I J K L M)
}
