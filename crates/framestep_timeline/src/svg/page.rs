//! Elements of SVG as text.

use std::fmt::{Display, Write as _};

/// A picture under construction.
#[derive(Debug, Default)]
pub(crate) struct Page(String);

/// A coordinate with as many digits as a screen shows.
pub(crate) fn round(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// A text inside an element or an attribute.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // All other characters that XML forbids have been escaped before.
            '\n' => escaped.push('\n'),
            character if character.is_control() => escaped.push('\u{fffd}'),
            character => escaped.push(character),
        }
    }
    escaped
}

/// The approximate width of a text, in units of its size.
pub(crate) fn width(text: &str) -> f64 {
    text.chars()
        .map(|character| match character {
            'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' | 'I' => 0.32,
            'f' | 't' | 'r' | '(' | ')' | '/' | '-' => 0.42,
            'm' | 'w' | 'M' | 'W' | '…' => 0.92,
            'A'..='Z' => 0.7,
            character if (character as u32) < 0x1100 => 0.585,
            _ => 1.05,
        })
        .sum()
}

/// The beginning of a text that fits into this many units of its size.
pub(crate) fn fit(text: &str, room: f64) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut short = String::new();
    let mut left = room - 0.92;
    for character in text.chars() {
        left -= width(character.encode_utf8(&mut [0; 4]));
        if left < 0.0 {
            break;
        }
        short.push(character);
    }
    short.truncate(short.trim_end().len());
    short.push('…');
    short
}

/// Cuts a text into at most three lines, between words.
pub(crate) fn wrap(text: &str, room: f64) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if line.is_empty() {
            line.push_str(word);
        } else if lines.len() == 2 || width(&line) + 0.32 + width(word) <= room {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(std::mem::replace(&mut line, word.to_owned()));
        }
    }
    lines.push(line);
    lines.iter().map(|line| fit(line, room)).collect()
}

impl Page {
    pub(crate) fn raw(&mut self, text: impl Display) {
        let _ = writeln!(self.0, "{text}");
    }

    pub(crate) fn rect(
        &mut self,
        class: &str,
        (x, y): (f64, f64),
        (w, h): (f64, f64),
        radius: f64,
        title: &str,
    ) {
        let (x, y, w, h) = (round(x), round(y), round(w.max(0.0)), round(h));
        let radius = round(radius.min(w / 2.0).min(h / 2.0));
        let _ = write!(
            self.0,
            r#"<rect class="{class}" x="{x}" y="{y}" width="{w}" height="{h}""#
        );
        if radius > 0.0 {
            let _ = write!(self.0, r#" rx="{radius}""#);
        }
        self.close("rect", title);
    }

    pub(crate) fn circle(&mut self, class: &str, (x, y): (f64, f64), r: f64, title: &str) {
        let (x, y) = (round(x), round(y));
        let _ = write!(
            self.0,
            r#"<circle class="{class}" cx="{x}" cy="{y}" r="{r}""#
        );
        self.close("circle", title);
    }

    pub(crate) fn path(&mut self, class: &str, path: &str, title: &str) {
        let _ = write!(self.0, r#"<path class="{class}" d="{path}""#);
        self.close("path", title);
    }

    pub(crate) fn text(&mut self, class: &str, (x, y): (f64, f64), text: &str) {
        let (x, y, text) = (round(x), round(y), escape(text));
        self.raw(format_args!(
            r#"<text class="{class}" x="{x}" y="{y}">{text}</text>"#
        ));
    }

    /// A text with a title for hovering.
    pub(crate) fn titled(&mut self, class: &str, (x, y): (f64, f64), text: &str, title: &str) {
        let (x, y, text) = (round(x), round(y), escape(text));
        let _ = write!(self.0, r#"<text class="{class}" x="{x}" y="{y}""#);
        if title.is_empty() {
            let _ = writeln!(self.0, ">{text}</text>");
        } else {
            let title = escape(title);
            let _ = writeln!(self.0, ">{text}<title>{title}</title></text>");
        }
    }

    /// Ends an element, with an optional title for hovering.
    fn close(&mut self, name: &str, title: &str) {
        if title.is_empty() {
            self.0.push_str("/>\n");
        } else {
            let title = escape(title);
            let _ = writeln!(self.0, "><title>{title}</title></{name}>");
        }
    }

    pub(crate) fn into_text(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::{escape, fit, width, wrap};

    #[test]
    fn names_cannot_close_an_element() {
        assert_eq!(
            escape("<a b='\"'>&\0"),
            "&lt;a b=&#39;&quot;&#39;&gt;&amp;\u{fffd}"
        );
    }

    #[test]
    fn a_long_sentence_gets_three_lines_at_most() {
        assert_eq!(wrap("one two", 9.0), ["one two"]);
        assert_eq!(wrap("one two", 3.0), ["one", "two"]);
        let lines = wrap(&"word ".repeat(50), 9.0);
        assert_eq!(lines.len(), 3);
        assert!(lines.iter().all(|line| width(line) <= 9.0), "{lines:?}");
        assert!(lines[2].ends_with('…'));
    }

    #[test]
    fn a_text_is_cut_to_its_room() {
        let text = "a name that is much too long";
        assert!(width(&fit(text, 8.0)) <= 8.0);
        assert_eq!(fit("short", 8.0), "short");
        assert_eq!(fit("勇者", 0.5), "…");
    }
}
