//! The content of a terminal: characters in colours.

use std::fmt;

pub(crate) const WIDTH: usize = 80;
pub(crate) const HEIGHT: usize = 24;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Colour {
    #[default]
    Plain,
    Faint,
    Bright,
    Typed,
    Good,
    Bad,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) character: char,
    pub(crate) colour: Colour,
}

impl Cell {
    const EMPTY: Cell = Cell {
        character: ' ',
        colour: Colour::Plain,
    };
}

pub(crate) struct Screen {
    rows: [[Cell; WIDTH]; HEIGHT],
}

impl Default for Screen {
    fn default() -> Self {
        Screen {
            rows: [[Cell::EMPTY; WIDTH]; HEIGHT],
        }
    }
}

impl Screen {
    /// Writes one row of text. Text outside the screen is omitted.
    pub(crate) fn write(&mut self, x: usize, y: usize, text: &str, colour: Colour) {
        let Some(row) = self.rows.get_mut(y) else {
            return;
        };
        for (cell, character) in row.iter_mut().skip(x).zip(text.chars()) {
            *cell = Cell { character, colour };
        }
    }

    pub(crate) fn centre(&mut self, y: usize, text: &str, colour: Colour) {
        let x = WIDTH.saturating_sub(text.chars().count()) / 2;
        self.write(x, y, text, colour);
    }

    /// A frame with nothing in it.
    pub(crate) fn frame(&mut self, x: usize, y: usize, width: usize, height: usize) {
        let line = "─".repeat(width - 2);
        let colour = Colour::Bright;
        self.write(x, y, &format!("┌{line}┐"), colour);
        for row in y + 1..y + height - 1 {
            self.write(x, row, &format!("│{}│", " ".repeat(width - 2)), colour);
        }
        self.write(x, y + height - 1, &format!("└{line}┘"), colour);
    }

    pub(crate) fn cells(&self) -> impl Iterator<Item = (usize, usize, Cell)> {
        self.rows.iter().enumerate().flat_map(|(y, row)| {
            let cells = row.iter().enumerate();
            cells.map(move |(x, &cell)| (x, y, cell))
        })
    }
}

/// The characters alone.
impl fmt::Display for Screen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in &self.rows {
            let text: String = row.iter().map(|cell| cell.character).collect();
            writeln!(f, "{}", text.trim_end())?;
        }
        Ok(())
    }
}
