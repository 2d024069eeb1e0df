//! Tests of the public interface, in folders by subject.

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
