//! Durable scripts, at the public boundary.

mod random;
mod scenes;
