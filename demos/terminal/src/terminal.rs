//! The terminal, which is restored when this is dropped.

use std::io::{self, Stdout, Write, stdout};
use std::panic;

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::style::{Attribute, Color, Print, SetAttribute, SetForegroundColor};
use crossterm::terminal::{
    self, Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode,
};
use crossterm::{execute, queue};

use crate::screen::{Colour, HEIGHT, Screen, WIDTH};

pub(crate) struct Terminal {
    out: Stdout,
    /// The current content. `None`: nothing yet.
    shown: Option<Screen>,
    /// Where the screen begins, so that it is centred.
    corner: (u16, u16),
}

impl Terminal {
    pub(crate) fn open() -> io::Result<Self> {
        enable_raw_mode()?;
        let mut terminal = Terminal {
            out: stdout(),
            shown: None,
            corner: (0, 0),
        };
        // A message would disappear with this screen.
        let hook = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            close();
            hook(info);
        }));
        execute!(terminal.out, EnterAlternateScreen, Hide)?;
        terminal.clear()?;
        Ok(terminal)
    }

    /// Redraws everything, for the current size of the terminal.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        let (width, height) = terminal::size()?;
        let spare = |size: u16, used: usize| size.saturating_sub(narrow(used)) / 2;
        self.corner = (spare(width, WIDTH), spare(height, HEIGHT));
        self.shown = None;
        queue!(self.out, Clear(ClearType::All))
    }

    /// Writes the differences from the current content.
    pub(crate) fn show(&mut self, screen: Screen) -> io::Result<()> {
        let before = self.shown.take().unwrap_or_default();
        // Where the terminal's own cursor is, and which colour it writes.
        let mut place = None;
        let mut colour = None;
        for ((x, y, cell), (_, _, old)) in screen.cells().zip(before.cells()) {
            if cell == old {
                continue;
            }
            if place != Some((x, y)) {
                let (left, top) = self.corner;
                queue!(self.out, MoveTo(left + narrow(x), top + narrow(y)))?;
            }
            if colour != Some(cell.colour) {
                self.set_colour(cell.colour)?;
                colour = Some(cell.colour);
            }
            queue!(self.out, Print(cell.character))?;
            place = Some((x + 1, y));
        }
        self.shown = Some(screen);
        self.out.flush()
    }

    fn set_colour(&mut self, colour: Colour) -> io::Result<()> {
        let (colour, attribute) = match colour {
            Colour::Plain => (Color::Reset, Attribute::NormalIntensity),
            Colour::Faint => (Color::DarkGrey, Attribute::NormalIntensity),
            Colour::Bright => (Color::Cyan, Attribute::Bold),
            Colour::Typed => (Color::Yellow, Attribute::Bold),
            Colour::Good => (Color::Green, Attribute::Bold),
            Colour::Bad => (Color::Red, Attribute::Bold),
        };
        queue!(
            self.out,
            SetAttribute(attribute),
            SetForegroundColor(colour)
        )
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        close();
    }
}

/// Restores the terminal. An error cannot be shown anywhere.
fn close() {
    let _ = execute!(stdout(), LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}

fn narrow(cells: usize) -> u16 {
    u16::try_from(cells).unwrap_or(u16::MAX)
}
