//! The event loop's side: it sleeps, runs frames and passes events on.

use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use framestep::prelude::*;
use winit::application::ApplicationHandler;
use winit::event::{ElementState, KeyEvent, MouseButton, StartCause, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoopProxy};
use winit::keyboard::{Key, NamedKey};
use winit::window::WindowId;

use crate::options::Options;
use crate::pace::Pace;
use crate::view::View;
use crate::world::{Edit, World};
use crate::{draw, pilot, scripts};

/// The event of the executor's waker. It only ends the sleep: the loop then checks what
/// is due.
#[derive(Debug)]
pub(crate) struct Woken;

pub(crate) struct Host {
    executor: Executor,
    world: World,
    pace: Pace,
    view: Option<View>,
    /// Where pictures go. In the demo, a script is the user.
    demo: Option<PathBuf>,
    failure: Option<Box<dyn Error>>,
}

impl Host {
    pub(crate) fn new(proxy: EventLoopProxy<Woken>, options: Options) -> io::Result<Self> {
        let path = options.notes();
        let text = if options.demo.is_some() {
            String::new()
        } else {
            read(&path)?
        };
        let executor = Executor::builder()
            // However long the loop has slept, the game clock must follow.
            .max_delta(f32::INFINITY)
            // A failed check of the demo must end the program.
            .propagate_panics(true)
            .build();
        // It fails once the loop has ended, when the wake is not needed.
        executor.on_wake(move || drop(proxy.send_event(Woken)));

        let world = World::new(&executor, path, text);
        // `spawn`, not `start`: nothing is lent yet.
        executor.spawn(scripts::blink()).named("blink");
        executor.spawn(scripts::autosave()).named("autosave");
        executor.spawn(scripts::buttons()).named("buttons");
        if options.demo.is_some() {
            executor.spawn(pilot::play()).named("pilot");
        }
        Ok(Host {
            executor,
            world,
            pace: Pace::new(),
            view: None,
            demo: options.demo,
            failure: None,
        })
    }

    /// The program's result after the loop.
    pub(crate) fn end(self) -> Result<(), Box<dyn Error>> {
        if let Some(error) = self.failure {
            return Err(error);
        }
        let figures = self.pace.figures(&self.executor);
        println!(
            "{} frames in {:.1} s, asleep for {:.1} s of them, at most {:.2} s at a time",
            figures.frames,
            figures.passed.as_secs_f32(),
            figures.slept.as_secs_f32(),
            figures.longest.as_secs_f32(),
        );
        Ok(())
    }

    /// Runs a frame of the executor if one is due.
    fn step_if_due(&mut self) {
        let now = Instant::now();
        if self.pace.next(&self.executor).is_none_or(|at| at > now) {
            return;
        }
        let dt = self.pace.begin_frame(now);
        let world = &mut self.world;
        self.executor.lend(world, |executor| executor.run_frame(dt));
        if let Some(view) = &self.view {
            view.request_redraw();
        }
    }

    fn draw(&mut self) -> Result<(), Box<dyn Error>> {
        let Some(view) = &mut self.view else {
            return Ok(());
        };
        draw::draw(view.canvas(), &self.world, &self.pace, &self.executor);
        if let Some(folder) = &self.demo {
            for name in self.world.pictures.drain(..) {
                view.canvas()
                    .save(&folder.join(name).with_extension("png"))?;
            }
        }
        view.present()
    }

    fn fail_on_error(&mut self, event_loop: &ActiveEventLoop, result: Result<(), Box<dyn Error>>) {
        if let Err(error) = result {
            self.failure = Some(error);
            event_loop.exit();
        }
    }

    /// Passes input on to the world. The signals in there wake scripts.
    fn input(&mut self, event: &WindowEvent) {
        match event {
            WindowEvent::Focused(focused) => self.world.focused.set(*focused),
            WindowEvent::KeyboardInput { event, .. } => {
                if let Some(edit) = edit_of(event) {
                    self.world.edit(&edit);
                }
            }
            WindowEvent::CursorMoved { position, .. } => {
                if let Some(view) = &mut self.view {
                    view.pointer = (position.x, position.y);
                }
            }
            WindowEvent::MouseInput {
                state: ElementState::Pressed,
                button: MouseButton::Left,
                ..
            } => {
                let button = self.view.as_ref().and_then(View::button_below_pointer);
                if let Some(button) = button {
                    self.world.clicked.emit(button);
                }
            }
            _ => {}
        }
    }
}

impl ApplicationHandler<Woken> for Host {
    fn new_events(&mut self, _: &ActiveEventLoop, _: StartCause) {
        self.pace.wake_up();
    }

    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        let result = View::new(event_loop).map(|view| self.view = Some(view));
        self.fail_on_error(event_loop, result);
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        match event {
            WindowEvent::CloseRequested => event_loop.exit(),
            WindowEvent::Resized(size) => {
                let result = self.view.as_mut().map_or(Ok(()), |view| view.resize(size));
                self.fail_on_error(event_loop, result);
            }
            WindowEvent::RedrawRequested => {
                let result = self.draw();
                self.fail_on_error(event_loop, result);
            }
            event if self.demo.is_none() => self.input(&event),
            _ => {}
        }
    }

    /// All events are handled: now the loop sleeps, unless a frame is due.
    ///
    /// A wake between the last check of the executor and the sleep is not lost: its
    /// event ends the sleep at once.
    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        self.step_if_due();
        if self.world.is_over {
            event_loop.exit();
        }
        event_loop.set_control_flow(match self.pace.next(&self.executor) {
            Some(at) => ControlFlow::WaitUntil(at),
            None => ControlFlow::Wait,
        });
        self.pace.fall_asleep();
    }
}

/// The notes of the last session, if there are any.
fn read(path: &Path) -> io::Result<String> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        result => result,
    }
}

/// The effect of a key on the text.
fn edit_of(event: &KeyEvent) -> Option<Edit> {
    if event.state != ElementState::Pressed {
        return None;
    }
    match &event.logical_key {
        Key::Named(NamedKey::Backspace) => Some(Edit::Delete),
        Key::Named(NamedKey::Enter) => Some(Edit::Insert("\n".to_owned())),
        Key::Named(NamedKey::ArrowLeft) => Some(Edit::Left),
        Key::Named(NamedKey::ArrowRight) => Some(Edit::Right),
        _ => {
            let text = event.text.as_ref()?;
            let is_plain = !text.chars().any(char::is_control);
            is_plain.then(|| Edit::Insert(text.to_string()))
        }
    }
}
