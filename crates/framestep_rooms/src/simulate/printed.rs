//! A history that is printed.

use super::World;
use crate::role::Command;

impl World {
    pub(super) fn print(&self, node: usize, command: &Command) {
        let name = self.nodes[node].name.clone();
        match command {
            Command::Append { attempt, after, .. } => {
                println!("{:>8} {name} appends {attempt} after {after:?}", self.now);
            }
            Command::Save { at, .. } => println!("{:>8} {name} saves at {}", self.now, at.seq),
            Command::Frame { at, own } => {
                let hash = self.nodes[node].fold.hash_after(at.frame);
                println!(
                    "{:>8} {name} frame {} at {} own {own} {hash:x}",
                    self.now, at.frame, at.seq
                );
            }
            command => println!("{:>8} {name} {command:?}", self.now),
        }
    }
}
