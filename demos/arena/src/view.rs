//! The view in a terminal.

use std::fmt::Write as _;
use std::time::Duration;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph};

use crate::cluster::Health;
use crate::oracle::GAPS;
use crate::round::{NodeLine, State};

/// A colour for each shard, so that one sees them move.
const COLOURS: [(u8, u8, u8); 12] = [
    (239, 83, 80),
    (255, 167, 38),
    (255, 238, 88),
    (156, 204, 101),
    (38, 166, 154),
    (38, 198, 218),
    (66, 165, 245),
    (126, 87, 194),
    (236, 64, 122),
    (141, 110, 99),
    (120, 144, 156),
    (212, 225, 87),
];

fn colour(shard: usize) -> Color {
    let (red, green, blue) = COLOURS[shard % COLOURS.len()];
    Color::Rgb(red, green, blue)
}

pub(crate) fn draw(frame: &mut Frame<'_>, state: &State) {
    let [head, nodes, below, foot] = Layout::vertical([
        Constraint::Length(4),
        Constraint::Min(9),
        Constraint::Length(14),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    draw_head(frame, head, state);
    let shares = vec![
        Constraint::Ratio(1, u32::try_from(state.nodes.len().max(1)).unwrap_or(1));
        state.nodes.len()
    ];
    for (node, area) in state
        .nodes
        .iter()
        .zip(Layout::horizontal(shares).split(nodes).iter())
    {
        draw_node(frame, *area, state, node);
    }
    let [gaps, lines] =
        Layout::horizontal([Constraint::Length(42), Constraint::Min(20)]).areas(below);
    draw_gaps(frame, gaps, state);
    draw_lines(frame, lines, state);
    let page = state
        .page
        .as_deref()
        .map_or(String::new(), |url| format!("   play in arena-0: {url}"));
    frame.render_widget(
        Paragraph::new(format!(" q ends the round{page}")).style(Style::new().dim()),
        foot,
    );
}

/// Digits in groups of three.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn draw_head(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let beat = &state.beat;
    let seconds = state.began.elapsed().as_secs();
    let good = Style::new()
        .fg(Color::Rgb(156, 204, 101))
        .add_modifier(Modifier::BOLD);
    let bad = Style::new()
        .fg(Color::Rgb(239, 83, 80))
        .add_modifier(Modifier::BOLD);
    let different = if beat.different == 0 { good } else { bad };
    let lines = vec![
        Line::from(vec![
            Span::raw(format!(
                "{} frames of rooms compared with the oracle's, ",
                grouped(beat.room_frames)
            )),
            Span::styled(format!("{} different", beat.different), different),
        ]),
        Line::from(format!(
            "{} inputs acknowledged in {:.1} ms (median), {} applied; {} sent again, without effect",
            grouped(state.sent.acknowledged),
            state.sent.wait.as_secs_f64() * 1e3,
            grouped(beat.inputs),
            grouped(beat.again)
        )),
    ];
    let title = format!(" arena  {}:{:02} ", seconds / 60, seconds % 60);
    frame.render_widget(
        Paragraph::new(lines).block(Block::bordered().title(title)),
        area,
    );
}

fn draw_node(frame: &mut Frame<'_>, area: Rect, state: &State, node: &NodeLine) {
    let (word, style) = match node.health {
        Health::Runs => ("", Style::new()),
        Health::Killed => ("killed", Style::new().fg(Color::Rgb(239, 83, 80))),
        Health::Stopped => ("asleep", Style::new().fg(Color::Rgb(255, 167, 38))),
        Health::Drains => ("drains", Style::new().fg(Color::Rgb(66, 165, 245))),
        Health::Cut => ("cut off", Style::new().fg(Color::Rgb(236, 64, 122))),
    };
    let title = format!(
        " {} build {} pid {} {word} ",
        node.name, node.build, node.pid
    );
    let block = Block::bordered()
        .border_style(style)
        .title(Span::styled(title, style));
    let width = usize::from(area.width.saturating_sub(2)) / 3;
    let mut rooms = Vec::new();
    for (shard, owner) in state.beat.owners.iter().enumerate() {
        if *owner == node.name {
            let names = state.beat.rooms.get(shard).into_iter().flatten();
            rooms.extend(names.map(|name| (shard, name)));
        }
    }
    let cell = |(shard, name): &(usize, &String)| {
        let short = name.rsplit('-').next().unwrap_or(name);
        let text = format!("{short:>2.2}");
        [
            Span::styled(text, Style::new().fg(Color::Black).bg(colour(*shard))),
            Span::raw(" "),
        ]
    };
    let mut lines: Vec<Line<'_>> = Vec::new();
    for row in rooms.chunks(width.max(1)) {
        lines.push(Line::from(row.iter().flat_map(cell).collect::<Vec<_>>()));
        lines.push(Line::default());
    }
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

fn draw_gaps(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let gaps = &state.beat.gaps;
    let most = gaps.iter().copied().max().unwrap_or(0);
    let width = u64::from(area.width.saturating_sub(24));
    let mut lines = Vec::new();
    for (column, count) in gaps.iter().enumerate() {
        let label = match GAPS.get(column) {
            Some(limit) => format!("under {limit:>5} ms"),
            None => "       longer ".to_owned(),
        };
        // Of powers of two: one long gap must be seen beside a million short ones.
        let bits = |number: u64| u64::from(u64::BITS - number.leading_zeros());
        let length = (bits(*count) * width).checked_div(bits(most)).unwrap_or(0);
        let bar = "█".repeat(usize::try_from(length).unwrap_or(0));
        let colour = if column < 3 {
            Color::Rgb(156, 204, 101)
        } else {
            Color::Rgb(255, 167, 38)
        };
        lines.push(Line::from(vec![
            Span::raw(format!("{label} ")),
            Span::styled(bar, Style::new().fg(colour)),
            Span::raw(if *count > 0 {
                format!(" {}", grouped(*count))
            } else {
                String::new()
            }),
        ]));
    }
    let block = Block::bordered().title(" time between two frames of a shard ");
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

fn draw_lines(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let block = Block::default()
        .borders(Borders::ALL)
        .title(" what happens ");
    let height = usize::from(area.height.saturating_sub(2));
    let first = state.lines.len().saturating_sub(height);
    let lines: Vec<Line<'_>> = state
        .lines
        .iter()
        .skip(first)
        .map(|line| Line::from(line.as_str()))
        .collect();
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

/// Shows the state until it ends. Returns early with `q`.
pub(crate) fn show(board: &crate::round::Board, is_over: impl Fn() -> bool) -> std::io::Result<()> {
    use ratatui::crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers, poll, read};
    let mut terminal = ratatui::try_init()?;
    let shown = (|| {
        while !is_over() {
            let state = board.lock().clone();
            terminal.draw(|frame| draw(frame, &state))?;
            if poll(Duration::from_millis(100))?
                && let Event::Key(key) = read()?
                && key.kind == KeyEventKind::Press
                && (matches!(key.code, KeyCode::Char('q') | KeyCode::Esc)
                    || key.code == KeyCode::Char('c')
                        && key.modifiers.contains(KeyModifiers::CONTROL))
            {
                break;
            }
        }
        Ok(())
    })();
    ratatui::restore();
    shown
}

/// The view as a picture.
pub(crate) fn picture(state: &State) -> Result<String, String> {
    let backend = ratatui::backend::TestBackend::new(104, 34);
    let mut terminal = ratatui::Terminal::new(backend).map_err(|error| error.to_string())?;
    terminal
        .draw(|frame| draw(frame, state))
        .map_err(|error| error.to_string())?;
    Ok(svg(terminal.backend().buffer()))
}

fn hex(colour: Color, default: &str) -> String {
    match colour {
        Color::Rgb(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}"),
        Color::Black => "#101418".to_owned(),
        _ => default.to_owned(),
    }
}

/// The size of a character in the picture.
const CELL: (u16, u16) = (8, 17);

fn svg(buffer: &Buffer) -> String {
    let area = buffer.area;
    let (width, height) = (area.width * CELL.0 + 16, area.height * CELL.1 + 16);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"DejaVu Sans Mono, \
         Menlo, Consolas, monospace\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#101418\"/>\n"
    );
    for y in 0..area.height {
        let mut x = 0;
        while x < area.width {
            let cell = &buffer[(x, y)];
            let (first, style) = (x, cell.style());
            let mut text = String::new();
            while x < area.width && buffer[(x, y)].style() == style {
                text.push_str(buffer[(x, y)].symbol());
                x += 1;
            }
            let (left, top) = (8 + first * CELL.0, 8 + y * CELL.1);
            let length = (x - first) * CELL.0;
            if let Some(Color::Rgb(..)) = style.bg {
                let fill = hex(style.bg.unwrap_or_default(), "none");
                let _ = writeln!(
                    svg,
                    "<rect x=\"{left}\" y=\"{top}\" width=\"{length}\" height=\"16\" fill=\"{fill}\"/>"
                );
            }
            if text.trim().is_empty() {
                continue;
            }
            let text = text
                .replace('&', "&amp;")
                .replace('<', "&lt;")
                .replace('>', "&gt;");
            let fill = hex(style.fg.unwrap_or_default(), "#cfd8dc");
            let _ = writeln!(
                svg,
                "<text x=\"{left}\" y=\"{}\" textLength=\"{length}\" lengthAdjust=\"spacingAndGlyphs\" \
                 xml:space=\"preserve\" fill=\"{fill}\">{text}</text>",
                top + 13
            );
        }
    }
    svg.push_str("</svg>\n");
    svg
}
