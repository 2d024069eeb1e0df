//! framestep
