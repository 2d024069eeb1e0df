//! The loop in a terminal: sleeps, runs frames, shows the screen.

use std::io;
use std::thread;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use framestep::prelude::*;
use framestep::task::RemoteHandle;

use crate::game::Game;
use crate::terminal::Terminal;
use crate::world::{Key, World};

pub(crate) fn play() -> io::Result<()> {
    let seed = SystemTime::now().duration_since(UNIX_EPOCH);
    let mut game = Game::new(seed.map_or(1, |since| u64::from(since.subsec_nanos())));
    let loop_thread = thread::current();
    game.executor.on_wake(move || loop_thread.unpark());

    let mut terminal = Terminal::open()?;
    let remote = game.executor.remote();
    // It ends with the process: nothing interrupts a `read`.
    thread::spawn(move || pass_on_events(&remote));

    let mut last = Instant::now();
    while !game.world.is_over {
        sleep_until_due(&game, last);
        let now = Instant::now();
        game.step(now - last);
        last = now;
        if game.world.is_resized {
            game.world.is_resized = false;
            terminal.clear()?;
        }
        terminal.show(game.screen())?;
    }
    Ok(())
}

/// Sleeps until a frame is due, `last` being the time of the last one.
///
/// If a wake arrives after the check of the executor, `park` returns at once. `park`
/// may also return without a reason, so this checks again.
fn sleep_until_due(game: &Game, last: Instant) {
    loop {
        match game.next_frame() {
            None => thread::park(),
            Some(next) => match next.checked_sub(last.elapsed()) {
                Some(left) if !left.is_zero() => thread::park_timeout(left),
                _ => return,
            },
        }
    }
}

/// Reads events for as long as the game exists.
fn pass_on_events(remote: &RemoteHandle) {
    while let Ok(event) = event::read() {
        let is_there = match event {
            Event::Key(key) => key_of(&key)
                .is_none_or(|key| remote.call(move || with(|world: &mut World| world.press(key)))),
            Event::Resize(..) => remote.call(|| with(|world: &mut World| world.is_resized = true)),
            _ => true,
        };
        if !is_there {
            break;
        }
    }
}

fn key_of(event: &KeyEvent) -> Option<Key> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    match event.code {
        // In raw mode this is a key like the others.
        KeyCode::Char('c') if event.modifiers.contains(KeyModifiers::CONTROL) => Some(Key::Quit),
        KeyCode::Char(letter) => Some(Key::Letter(letter.to_ascii_lowercase())),
        KeyCode::Enter => Some(Key::Enter),
        KeyCode::Esc => Some(Key::Escape),
        KeyCode::Up => Some(Key::Up),
        KeyCode::Down => Some(Key::Down),
        _ => None,
    }
}
