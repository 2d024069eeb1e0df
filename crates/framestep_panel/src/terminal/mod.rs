//! The view for terminals, drawn with [ratatui].
//!
//! ```
//! use framestep::prelude::*;
//! use framestep_panel::{Panel, terminal::View};
//! use ratatui::{Terminal, backend::TestBackend};
//!
//! let mut executor = Executor::builder().inspect(true).profile(true).build();
//! executor.script("door").start(wait_seconds(2));
//! let mut panel = Panel::new();
//! panel.open();
//! executor.run_frame(0.5);
//! panel.look(&executor);
//!
//! let mut view = View::new();
//! let mut terminal = Terminal::new(TestBackend::new(100, 20)).unwrap();
//! terminal.draw(|frame| view.draw(frame, &mut panel)).unwrap();
//! assert!(terminal.backend().to_string().contains("door"));
//! ```

mod columns;
mod keys;
mod paint;
mod view;

pub use view::View;
