//! Tests of the public surface, in folders by what they are about.

mod documents;
mod errors;
mod events;
mod hostile;
mod hosts;
mod inspect;
mod lifetimes;
mod proofs;
mod support;
mod timing;
mod waits;
