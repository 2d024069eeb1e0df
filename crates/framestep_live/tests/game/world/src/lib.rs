//! The world of the game.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct World {
    pub log: Vec<String>,
}
