//! A notebook in a window that sleeps: winit for the window, softbuffer for the pixels.
//!
//! A blinking cursor, an autosave, fades and a proofreader on a thread are scripts. The
//! host runs a frame when a script is due, and no frame otherwise:
//!
//! - While a script wants every frame, `idle_until` is zero, and there are 60 frames a
//!   second.
//! - Otherwise the event loop sleeps until the next timer, with
//!   `ControlFlow::WaitUntil`, or without a timer until an event, with `ControlFlow::Wait`.
//! - Another thread that wakes a script ends the sleep: `on_wake` sends an event through
//!   the `EventLoopProxy`.
//!
//! The panel on the right shows how many frames there were and how long the loop slept.
//! `pace.rs` decides when a frame is due, for `host.rs`. No script draws: scripts change a
//! [`World`](world::World) that the host lends to them, and `draw.rs` shows it.

mod canvas;
mod draw;
mod host;
mod options;
mod pace;
mod pilot;
mod proofread;
mod scripts;
mod theme;
mod view;
mod world;

use std::error::Error;
use std::process::ExitCode;

use winit::event_loop::EventLoop;

use host::{Host, Woken};
use options::Options;

fn main() -> ExitCode {
    match Options::parse(std::env::args().skip(1)) {
        Ok(options) if options.help => println!("{}", options::USAGE),
        Ok(options) => {
            if let Err(error) = run(options) {
                eprintln!("framestep-winit: {error}");
                return ExitCode::FAILURE;
            }
        }
        Err(message) => {
            eprintln!("framestep-winit: {message}\n\n{}", options::USAGE);
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn run(options: Options) -> Result<(), Box<dyn Error>> {
    let event_loop = EventLoop::<Woken>::with_user_event().build()?;
    let mut host = Host::new(event_loop.create_proxy(), options)?;
    event_loop.run_app(&mut host)?;
    host.end()
}
