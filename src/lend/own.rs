//! The keys of plain state, which has no lifetime.

use std::marker::PhantomData;

use super::key::Lend;

/// The key that [`Executor::lend`](crate::Executor::lend) uses for a plain `S`. It
/// is a type of this crate, because `S` itself may be the key of another state.
pub(super) struct Own<S>(PhantomData<S>);

impl<S: 'static> Lend for Own<S> {
    type Of<'a> = S;
}
