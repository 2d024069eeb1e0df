//! Writing into ratatui's buffer.

use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};

/// A line of the buffer that is written from left to right.
pub(super) struct Line<'a> {
    buffer: &'a mut Buffer,
    x: u16,
    y: u16,
    end: u16,
}

pub(super) fn rgb([red, green, blue]: [u8; 3]) -> Color {
    Color::Rgb(red, green, blue)
}

pub(super) fn ink(colour: [u8; 3]) -> Style {
    Style::new().fg(rgb(colour))
}

pub(super) fn bold(colour: [u8; 3]) -> Style {
    ink(colour).add_modifier(Modifier::BOLD)
}

impl<'a> Line<'a> {
    pub(super) fn new(buffer: &'a mut Buffer, x: u16, y: u16, width: u16) -> Self {
        let end = x.saturating_add(width);
        Line { buffer, x, y, end }
    }

    /// Writes the text, cut at the end of the line.
    pub(super) fn put(&mut self, text: &str, style: Style) {
        let room = usize::from(self.end.saturating_sub(self.x));
        if room > 0 {
            let (x, _) = self.buffer.set_stringn(self.x, self.y, text, room, style);
            self.x = x.min(self.end);
        }
    }

    /// Writes the text into a column: cut with `…`, and followed by blanks.
    pub(super) fn cell(&mut self, text: &str, width: u16, style: Style) {
        let from = self.x;
        let to = from.saturating_add(width).min(self.end);
        self.within(to, text, style);
        self.x = to;
    }

    /// Like `cell`, at the right edge of the column.
    pub(super) fn right(&mut self, text: &str, width: u16, style: Style) {
        let to = self.x.saturating_add(width).min(self.end);
        let length = u16::try_from(text.chars().count()).unwrap_or(u16::MAX);
        self.x = to.saturating_sub(length).max(self.x);
        self.within(to, text, style);
        self.x = to;
    }

    fn within(&mut self, to: u16, text: &str, style: Style) {
        let room = usize::from(to.saturating_sub(self.x));
        if room == 0 {
            return;
        }
        let (x, _) = self.buffer.set_stringn(self.x, self.y, text, room, style);
        let is_cut =
            usize::from(x - self.x) + 1 >= room && ratatui::text::Line::from(text).width() > room;
        if is_cut {
            self.buffer.set_stringn(to - 1, self.y, "…", 1, style);
        }
    }

    pub(super) fn skip(&mut self, width: u16) {
        self.x = self.x.saturating_add(width).min(self.end);
    }

    pub(super) fn room(&self) -> u16 {
        self.end.saturating_sub(self.x)
    }

    pub(super) fn x(&self) -> u16 {
        self.x
    }
}
