//! The layout of the screen.

use std::time::Duration;

use framestep::task::CoroutineId;
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::model::{Kind, Level, Mark, Palette, Panel, Row, duration};

use super::columns::Columns;
use super::keys::{CLOSE, HELP};
use super::paint::{Line, bold, ink, rgb};

/// The view of a [`Panel`] in a terminal.
#[derive(Debug)]
pub struct View {
    is_dark: bool,
    /// The keys with which the host closes the panel.
    close_keys: &'static str,
    /// The first line of the list that is on the screen.
    top: usize,
    /// The selected line, if it is that of an owner.
    cursor: usize,
    /// How many lines of the list fit.
    pub(super) page: u16,
    pub(super) is_typing: bool,
    pub(super) ask: Option<Ask>,
    pub(super) message: Option<String>,
    warning: usize,
    to_copy: Option<String>,
    /// Where the next drawing must move the cursor.
    follow: bool,
}

/// What the user must confirm.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ask {
    Stop(CoroutineId),
}

impl Default for View {
    fn default() -> Self {
        Self::new()
    }
}

impl View {
    /// A view on a dark background.
    pub fn new() -> Self {
        View {
            is_dark: true,
            close_keys: "",
            top: 0,
            cursor: 0,
            page: 1,
            is_typing: false,
            ask: None,
            message: None,
            warning: 0,
            to_copy: None,
            follow: false,
        }
    }

    /// Chooses the dark or the light colours.
    #[must_use]
    pub fn dark(mut self, is_dark: bool) -> Self {
        self.is_dark = is_dark;
        self
    }

    /// Names the keys with which the host closes the panel, such as `"q esc"`: the last line
    /// then shows them.
    #[must_use]
    pub fn closes_on(mut self, keys: &'static str) -> Self {
        self.close_keys = keys;
        self
    }

    /// Whether the keys go to the filter.
    pub fn is_typing(&self) -> bool {
        self.is_typing
    }

    /// `FILE:LINE:COLUMN` of the line that the user chose, if the panel has no
    /// [`on_line`](Panel::on_line): for the host to copy.
    pub fn take_copied(&mut self) -> Option<String> {
        self.to_copy.take()
    }

    /// Draws the panel on the whole screen.
    pub fn draw(&mut self, frame: &mut Frame<'_>, panel: &mut Panel) {
        let area = frame.area();
        self.draw_in(area, frame.buffer_mut(), panel);
    }

    /// Draws the panel in a part of the screen.
    pub fn draw_in(&mut self, area: Rect, buffer: &mut Buffer, panel: &mut Panel) {
        let area = area.intersection(buffer.area);
        if !panel.is_open() || area.width == 0 || area.height == 0 {
            return;
        }
        let palette = Palette::new(self.is_dark);
        buffer.set_style(
            area,
            Style::reset().fg(rgb(palette.text)).bg(rgb(palette.ground)),
        );
        let mut rest = Rows { area };
        let help = rest.bottom(1);
        self.help(help, buffer, palette, panel);
        Self::head(rest.top(1), buffer, palette, panel);
        Self::code(&mut rest, buffer, palette, panel);
        Self::notes(&mut rest, buffer, palette, panel);
        if panel.shown().is_none() {
            let text = "No frame has been recorded yet: `Panel::look` has not been called.";
            Line::new(buffer, rest.area.x, rest.area.y, rest.area.width)
                .put(text, ink(palette.weak));
            return;
        }
        if rest.area.height > 5 {
            Self::legend(rest.top(1), buffer, palette, panel);
        }
        if rest.area.height > 7 {
            Self::film(rest.bottom(2), buffer, palette, panel);
        }
        Self::details(&mut rest, buffer, palette, panel);
        self.list(rest.area, buffer, palette, panel);
    }

    fn head(area: Rect, buffer: &mut Buffer, palette: &Palette, panel: &Panel) {
        buffer.set_style(area, Style::new().bg(rgb(palette.raised)));
        let mut line = Line::new(buffer, area.x, area.y, area.width);
        let pace = panel.pace();
        let (word, colour) = match (panel.has_ended(), panel.is_live(), pace.paused) {
            (true, ..) => (" ENDED ", palette.level(Level::Error)),
            (_, false, _) => (" BACK IN TIME ", palette.level(Level::Warning)),
            (_, _, true) => (" PAUSED ", palette.level(Level::Warning)),
            _ => (" RUNNING ", palette.kind(Kind::Time)),
        };
        let badge = Style::new().fg(rgb(palette.ground)).bg(rgb(colour));
        line.put(word, badge.add_modifier(Modifier::BOLD));
        let Some(frame) = panel.shown() else { return };
        line.put(&format!(" frame {}", frame.number()), bold(palette.text));
        line.put(
            &format!("  {}", duration(frame.time().elapsed)),
            ink(palette.text),
        );
        let count = frame.scripts().len();
        line.put(&format!("  {count} scripts"), ink(palette.text));
        if !frame.spent().is_zero() {
            line.put(
                &format!("  {} in polls", duration(frame.spent())),
                ink(palette.text),
            );
        }
        if (pace.speed - 1.0).abs() > 1e-9 {
            line.put(
                &format!("  speed ×{}", pace.speed),
                bold(palette.level(Level::Warning)),
            );
        }
        if panel.runs_before() > 0 {
            line.put(
                &format!("  run {}", panel.runs_before() + 1),
                ink(palette.weak),
            );
        }
        if let Some(missing) = panel.missing() {
            line.put(&format!("  {missing}"), ink(palette.weak));
        }
    }

    /// What is told about the code, at most a third of the screen.
    fn code(rest: &mut Rows, buffer: &mut Buffer, palette: &Palette, panel: &Panel) {
        let Some((level, text)) = panel.code() else {
            return;
        };
        let most = usize::from(rest.area.height / 3).max(1);
        for (number, line) in text.lines().take(most).enumerate() {
            let area = rest.top(1);
            let style = if number == 0 {
                ink(palette.level(level)).add_modifier(Modifier::BOLD)
            } else {
                ink(palette.text)
            };
            let mut place = Line::new(buffer, area.x, area.y, area.width);
            place.put(" ", style);
            let room = place.room();
            place.cell(line, room, style);
        }
    }

    /// The warnings, at most a third of the screen.
    fn notes(rest: &mut Rows, buffer: &mut Buffer, palette: &Palette, panel: &mut Panel) {
        let most = usize::from(rest.area.height / 3).max(1);
        let warnings = panel.warnings();
        let shown = if warnings.len() > most {
            most - 1
        } else {
            warnings.len()
        };
        for warning in &warnings[..shown] {
            let area = rest.top(1);
            let style = ink(palette.level(warning.level));
            let mark = match warning.level {
                Level::Error => " × ",
                Level::Warning => " ! ",
                Level::Note => " · ",
            };
            let mut line = Line::new(buffer, area.x, area.y, area.width);
            line.put(mark, style.add_modifier(Modifier::BOLD));
            let room = line.room();
            line.cell(&warning.text, room, style);
        }
        if warnings.len() > shown {
            let text = format!(" {} more: ! goes through them", warnings.len() - shown);
            let area = rest.top(1);
            Line::new(buffer, area.x, area.y, area.width).put(&text, ink(palette.weak));
        }
    }

    fn legend(area: Rect, buffer: &mut Buffer, palette: &Palette, panel: &Panel) {
        let Some(frame) = panel.shown() else { return };
        let mut line = Line::new(buffer, area.x + 1, area.y, area.width.saturating_sub(1));
        let filter = panel.filter();
        for kind in Kind::ALL.into_iter().filter(|kind| frame.count(*kind) > 0) {
            let is_on = filter.kinds.is_empty() || filter.kinds.contains(&kind);
            let colour = palette.kind(kind);
            let style = if is_on {
                ink(colour)
            } else {
                ink(palette.faded(colour, 0.45))
            };
            line.put("■ ", style);
            line.put(&format!("{} ", kind.word()), style);
            line.put(&format!("{}   ", frame.count(kind)), ink(palette.weak));
        }
        if !filter.text.is_empty() {
            line.put(&format!("with “{}”  ", filter.text), bold(palette.text));
        }
        if filter.only_entity {
            let entity = panel.entity().unwrap_or("nothing selected");
            line.put(&format!("only {entity}  "), bold(palette.text));
        }
        line.put(
            &format!("order: {}", panel.order().word()),
            ink(palette.weak),
        );
    }

    fn list(&mut self, area: Rect, buffer: &mut Buffer, palette: &Palette, panel: &mut Panel) {
        if area.height < 2 {
            return;
        }
        let columns = Columns::new(area.width);
        let head = ink(palette.weak).add_modifier(Modifier::UNDERLINED);
        let mut line = Line::new(buffer, area.x + 1, area.y, area.width - 1);
        buffer_head(&mut line, &columns, head);

        self.page = area.height - 1;
        let page = usize::from(self.page);
        let selected = panel.selected();
        let rows = panel.rows();
        let count = rows.len();
        if let Some(at) = selected.and_then(|id| rows.iter().position(|row| row.id() == Some(id)))
            && at != self.cursor
        {
            self.cursor = at;
        }
        self.cursor = self.cursor.min(count.saturating_sub(1));
        if self.follow {
            self.follow = false;
            self.top = self
                .top
                .clamp((self.cursor + 1).saturating_sub(page), self.cursor);
        }
        self.top = self.top.min(count.saturating_sub(page));
        let end = (self.top + page).min(count);
        let visible: Vec<Row> = rows[self.top..end].to_vec();
        if count == 0 {
            let has_any = panel.shown().is_some_and(|frame| frame.scripts().len() > 0);
            let text = if has_any {
                "No script matches. ⌫ clears the filter."
            } else {
                "No scripts."
            };
            Line::new(buffer, area.x + 1, area.y + 1, area.width - 1).put(text, ink(palette.weak));
        }
        for (y, (index, row)) in (area.y + 1..).zip((self.top..).zip(&visible)) {
            let whole = Rect::new(area.x, y, area.width, 1);
            if index == self.cursor {
                buffer.set_style(whole, Style::new().bg(rgb(palette.selected)));
            } else if index % 2 == 1 {
                buffer.set_style(whole, Style::new().bg(rgb(palette.stripe)));
            }
            let line = Line::new(buffer, area.x + 1, y, area.width - 1);
            write_row(line, row, &columns, palette, panel);
        }
        if count > page {
            scroll_bar(area, buffer, palette, self.top, page, count);
        }
    }

    fn details(rest: &mut Rows, buffer: &mut Buffer, palette: &Palette, panel: &Panel) {
        let details = panel
            .selected()
            .map(|id| panel.details(id))
            .unwrap_or_default();
        let room = (rest.area.height / 3).min(8);
        let lines = u16::try_from(details.len()).unwrap_or(room).min(room);
        if lines == 0 || rest.area.height < 9 {
            return;
        }
        let area = rest.bottom(lines + 1);
        rule(area, buffer, palette);
        for (y, (head, text)) in (area.y + 1..area.bottom()).zip(details) {
            let mut line = Line::new(buffer, area.x + 1, y, area.width - 1);
            line.cell(head, 13, ink(palette.weak));
            let room = line.room();
            line.cell(&text, room, ink(palette.text));
        }
    }

    /// The recorded frames, as columns as high as the time in polls, on a fixed scale.
    fn film(area: Rect, buffer: &mut Buffer, palette: &Palette, panel: &Panel) {
        rule(area, buffer, palette);
        let label = match panel.frames().next() {
            Some(first) => format!(" {} ", first.number()),
            None => return,
        };
        let y = area.y + 1;
        let mut line = Line::new(buffer, area.x, y, area.width);
        line.put(&label, ink(palette.weak));
        let from = line.x();
        let last = panel.frames().last().map_or(0, crate::Frame::number);
        let last = format!(" {last} ");
        let width = line
            .room()
            .saturating_sub(u16::try_from(last.len()).unwrap_or(0));
        let shown = panel.shown().map(crate::Frame::number);
        let frames: Vec<_> = panel
            .frames()
            .map(|frame| (frame.number(), frame.spent()))
            .collect();
        let cells = usize::from(width).min(frames.len());
        for cell in 0..cells {
            let (begin, end) = (
                cell * frames.len() / cells,
                (cell + 1) * frames.len() / cells,
            );
            let part = &frames[begin..end.max(begin + 1)];
            let spent = part
                .iter()
                .map(|(_, spent)| *spent)
                .max()
                .unwrap_or_default();
            let is_shown = part.iter().any(|(number, _)| Some(*number) == shown);
            let mut numbers = part.iter().map(|(number, _)| *number);
            let style = if is_shown {
                bold(palette.ground).bg(rgb(palette.accent))
            } else if numbers.any(|number| panel.has_exchanged_code(number)) {
                bold(palette.ground).bg(rgb(palette.level(Level::Warning)))
            } else if spent > panel.budget() {
                ink(palette.level(Level::Error))
            } else {
                ink(palette.faded(palette.accent, 0.8))
            };
            let x = from + u16::try_from(cell).unwrap_or(0);
            buffer.set_stringn(x, y, level(panel.height_of(spent)), 1, style);
        }
        let x = from + u16::try_from(cells).unwrap_or(0);
        Line::new(buffer, x, y, area.right().saturating_sub(x)).put(&last, ink(palette.weak));
    }

    fn help(&self, area: Rect, buffer: &mut Buffer, palette: &Palette, panel: &Panel) {
        buffer.set_style(area, Style::new().bg(rgb(palette.raised)));
        let mut line = Line::new(buffer, area.x, area.y, area.width);
        if self.is_typing {
            line.put(" filter: ", bold(palette.accent));
            line.put(&panel.filter().text, ink(palette.text));
            line.put("▏", ink(palette.accent));
            line.put("   ↵ keep   esc clear", ink(palette.weak));
        } else if let Some(message) = &self.message {
            line.put(&format!(" {message}"), bold(palette.accent));
        } else {
            let keys = HELP.into_iter().filter_map(|(key, word)| match key {
                "r" if !panel.can_restart() => None,
                "t" | "b" if !panel.can_rewind() => None,
                CLOSE => (!self.close_keys.is_empty()).then_some((self.close_keys, word)),
                _ => Some((key, word)),
            });
            for (key, word) in keys {
                let width = key.chars().count() + word.len() + 3;
                if usize::from(line.room()) < width {
                    break;
                }
                line.put(&format!(" {key}"), bold(palette.accent));
                line.put(&format!(" {word} "), ink(palette.weak));
            }
        }
    }

    pub(super) fn move_by(&mut self, by: isize, panel: &mut Panel) {
        let rows = panel.rows();
        let last = rows.len().saturating_sub(1);
        self.cursor = self.cursor.saturating_add_signed(by).min(last);
        self.follow = true;
        let id = rows.get(self.cursor).and_then(Row::id);
        panel.select(id);
    }

    pub(super) fn next_warning(&mut self, panel: &mut Panel) {
        let warnings = panel.warnings();
        if warnings.is_empty() {
            self.message = Some("No warnings".to_owned());
            return;
        }
        let at = self.warning % warnings.len();
        self.warning = at + 1;
        let warning = &warnings[at];
        let (script, text) = (warning.script, warning.text.clone());
        self.message = Some(format!("{} of {}: {text}", at + 1, warnings.len()));
        if let Some(id) = script {
            panel.select(Some(id));
            self.follow = true;
        }
    }

    pub(super) fn fold(&mut self, panel: &mut Panel) {
        let rows = panel.rows();
        let above = rows.get(..=self.cursor).and_then(|rows| {
            rows.iter().rev().find_map(|row| match row {
                Row::Owner { name, .. } => Some(name.clone()),
                Row::Script { .. } => None,
            })
        });
        if let Some(name) = above {
            panel.fold(&name);
            let is_it = |row: &Row| matches!(row, Row::Owner { name: owner, .. } if *owner == name);
            self.cursor = panel.rows().iter().position(is_it).unwrap_or(0);
            panel.select(None);
            self.follow = true;
        }
    }

    pub(super) fn enter(&mut self, panel: &mut Panel) {
        let Some(id) = panel.selected() else {
            self.fold(panel);
            return;
        };
        let frame = panel.shown();
        let line = frame.and_then(|frame| frame.script(id)?.line());
        let Some(at) = line else {
            self.message = Some("Its line is not known".to_owned());
            return;
        };
        self.to_copy = panel.open_line(at);
        self.message = Some(at.to_string());
    }
}

/// The rest of the screen.
struct Rows {
    area: Rect,
}

impl Rows {
    fn top(&mut self, height: u16) -> Rect {
        let height = height.min(self.area.height);
        let taken = Rect {
            height,
            ..self.area
        };
        self.area.y += height;
        self.area.height -= height;
        taken
    }

    fn bottom(&mut self, height: u16) -> Rect {
        let height = height.min(self.area.height);
        self.area.height -= height;
        Rect {
            y: self.area.y + self.area.height,
            height,
            ..self.area
        }
    }
}

fn buffer_head(line: &mut Line<'_>, columns: &Columns, style: Style) {
    let left = [
        ("name", columns.name),
        ("waits for", columns.wait),
        ("left", columns.bar),
    ];
    for (head, width) in left.into_iter().chain([("where", columns.place)]) {
        if width > 0 {
            line.cell(head, width, style);
            line.skip(2);
        }
    }
    let right = [("polls", columns.polls), ("a frame", columns.average)];
    for (head, width) in right.into_iter().chain([("longest", columns.longest)]) {
        if width > 0 {
            line.right(head, width, style);
            line.skip(2);
        }
    }
    if columns.strip > 0 {
        line.cell("last frames", columns.strip, style);
    }
}

fn write_row(mut line: Line<'_>, row: &Row, columns: &Columns, palette: &Palette, panel: &Panel) {
    let (id, depth) = match row {
        Row::Owner {
            name,
            count,
            depth,
            folded,
        } => {
            line.skip(u16::try_from(2 * depth).unwrap_or(0));
            line.put(if *folded { "▸ " } else { "▾ " }, ink(palette.weak));
            line.put(name, bold(palette.text));
            let scripts = if *count == 1 { "script" } else { "scripts" };
            line.put(&format!("  {count} {scripts}"), ink(palette.weak));
            return;
        }
        Row::Script { id, depth } => (*id, u16::try_from(*depth).unwrap_or(0)),
    };
    let script = panel.shown().and_then(|frame| frame.script(id));
    let Some((script, cells)) = script.and_then(|script| Some((script, panel.cells(script)?)))
    else {
        return;
    };
    let colour = ink(palette.kind(cells.kind));
    let indent = (2 * depth).min(columns.name / 2);
    line.skip(indent);
    line.put("■ ", colour);
    let room = columns.name.saturating_sub(indent + 2);
    let name_ink = if panel.has_restarted(id) {
        bold(palette.level(Level::Warning))
    } else {
        ink(palette.text)
    };
    let name = u16::try_from(cells.name.chars().count()).unwrap_or(room);
    if cells.description.is_empty() || name + 4 > room {
        line.cell(&cells.name, room, name_ink);
    } else {
        line.cell(&cells.name, name, name_ink);
        line.skip(1);
        let style = ink(palette.weak).add_modifier(Modifier::ITALIC);
        line.cell(&cells.description, room - name - 1, style);
    }
    line.skip(2);
    line.cell(&cells.wait, columns.wait, colour);
    line.skip(2);
    if columns.bar > 0 {
        if let Some(left) = cells.left {
            let (full, rest) = bar(left, columns.bar);
            let before = line.x();
            line.put(&full, colour);
            line.put(&rest, ink(palette.line));
            line.skip((before + columns.bar).saturating_sub(line.x()));
        } else {
            line.skip(columns.bar);
        }
        line.skip(2);
    }
    if columns.place > 0 {
        line.cell(
            tail(&cells.place, columns.place),
            columns.place,
            ink(palette.text),
        );
        line.skip(2);
    }
    let right = [
        (&cells.polls, columns.polls),
        (&cells.average, columns.average),
    ];
    for (text, width) in right.into_iter().chain([(&cells.longest, columns.longest)]) {
        if width > 0 {
            line.right(text, width, ink(palette.weak));
            line.skip(2);
        }
    }
    let slow = Duration::from_millis(4);
    for mark in panel.marks(script.id(), usize::from(columns.strip)) {
        let (text, style) = match mark {
            Mark::Absent => (" ", Style::new()),
            Mark::Spawned => ("+", bold(palette.text)),
            Mark::Ended => ("×", bold(palette.text)),
            Mark::Polled(took) if took >= slow => ("█", ink(palette.level(Level::Error))),
            Mark::Polled(took) => {
                let part = took.as_secs_f32() / slow.as_secs_f32().max(1e-9);
                (level(part.sqrt()), ink(palette.accent))
            }
            Mark::Paused => ("‖", ink(palette.kind(Kind::Paused))),
            Mark::Waited(kind) => ("·", ink(palette.kind(kind))),
        };
        line.put(text, style);
    }
}

/// The end of a text that is too long: of a path, the file and the line.
fn tail(text: &str, width: u16) -> &str {
    let surplus = text.chars().count().saturating_sub(usize::from(width));
    if surplus == 0 {
        return text;
    }

    (text
        .rfind(['/', '\\'])
        .map_or(text, |slash| &text[slash + 1..])) as _
}

/// A bar in halves of a cell, and the empty rest.
fn bar(part: f32, width: u16) -> (String, String) {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "0 to twice the width"
    )]
    let halves = (part.clamp(0.0, 1.0) * f32::from(width) * 2.0).round() as usize;
    let mut full = "━".repeat(halves / 2);
    full.push_str(if halves % 2 == 1 { "╸" } else { "" });
    let rest = "─".repeat(usize::from(width).saturating_sub(halves.div_ceil(2)));
    (full, rest)
}

/// A column as high as the part of the time, on a scale that also shows short times.
fn level(part: f32) -> &'static str {
    const LEVELS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "0 to 7"
    )]
    let at = (part.clamp(0.0, 1.0) * 7.0).round() as usize;
    LEVELS[at]
}

fn rule(area: Rect, buffer: &mut Buffer, palette: &Palette) {
    let text = "─".repeat(usize::from(area.width));
    buffer.set_stringn(
        area.x,
        area.y,
        text,
        usize::from(area.width),
        ink(palette.line),
    );
}

fn scroll_bar(
    area: Rect,
    buffer: &mut Buffer,
    palette: &Palette,
    top: usize,
    page: usize,
    count: usize,
) {
    let length = (page * page / count).max(1);
    let from = top * (page - length) / (count - page);
    for row in 0..page {
        let is_on = (from..from + length).contains(&row);
        let colour = if is_on { palette.weak } else { palette.line };
        let y = area.y + 1 + u16::try_from(row).unwrap_or(0);
        buffer.set_stringn(area.right() - 1, y, "▐", 1, ink(colour));
    }
}
