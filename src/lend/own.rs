//! State without lifetimes, as something that is lent.

#![forbid(unsafe_code)]

use std::marker::PhantomData;

use super::Lend;

/// What [`Executor::lend`](crate::Executor::lend) lends a plain `S` as. A type of
/// the crate's own: `S` itself may lend something else.
pub(super) struct Own<S>(PhantomData<S>);

impl<S: 'static> Lend for Own<S> {
    type Of<'a> = S;
}
