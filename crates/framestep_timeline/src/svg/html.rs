//! A long film as a page: a picture a row, in several sizes.

use std::fmt::{self, Write as _};
use std::ops::RangeInclusive;

use crate::film::Film;
use crate::text;

use super::Theme;
use super::page::escape;

/// A film as a page of HTML, returned by [`Film::html`]. Print it with `{}`.
///
/// Each row is a [picture](super::Svg) of some frames, wide enough to read. Buttons, or the keys `+` and
/// `-`, change how many frames a row has. The address does so as well: `film.html?frames=200`
/// begins with 200 frames a row, and `film.html?frames=50&at=1080` shows frame 1,080.
#[derive(Clone, Debug)]
pub struct Html<'a> {
    film: &'a Film,
    title: String,
    theme: Theme,
    width: u32,
    rows: Vec<u64>,
    most_lanes: usize,
}

impl Film {
    /// A page for a long film, which a browser shows. It is a single file, which loads nothing.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # let recorder = framestep_timeline::Recorder::new();
    /// let film = recorder.film();
    /// std::fs::write("film.html", film.html().title("A day at the inn").to_string())?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn html(&self) -> Html<'_> {
        Html {
            film: self,
            title: "Timeline".to_owned(),
            theme: Theme::Auto,
            width: 1_400,
            rows: vec![600, 200, 60],
            most_lanes: 40,
        }
    }
}

impl Html<'_> {
    /// The heading.
    #[must_use]
    pub fn title(mut self, title: impl AsRef<str>) -> Self {
        self.title = text::visible(title.as_ref());
        self
    }

    /// The colours. Without this, they follow the reader's system.
    #[must_use]
    pub fn theme(mut self, theme: Theme) -> Self {
        self.theme = theme;
        self
    }

    /// The width of a row in pixels: see [`Svg::width`](super::Svg::width). The default is 1,400.
    #[must_use]
    pub fn width(mut self, width: u32) -> Self {
        self.width = width;
        self
    }

    /// The most scripts that have a lane in a row: see [`Svg::most_lanes`](super::Svg::most_lanes). The default is 40.
    #[must_use]
    pub fn most_lanes(mut self, lanes: usize) -> Self {
        self.most_lanes = lanes;
        self
    }

    /// How many frames a row has: one size, or several to choose from. The default is 600, 200
    /// and 60. A day a row: as many as a day of the game has.
    ///
    /// # Panics
    ///
    /// If there is no size, or one is 0.
    #[must_use]
    #[track_caller]
    pub fn rows_of(mut self, frames: &[u64]) -> Self {
        assert!(
            !frames.is_empty() && !frames.contains(&0),
            "`rows_of` got {frames:?}: give it at least one number of frames, such as `&[200]`"
        );
        self.rows = frames.to_vec();
        self
    }
}

impl fmt::Display for Html<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let title = escape(&self.title);
        let scheme = match self.theme {
            Theme::Auto => "light dark",
            Theme::Light => "light",
            Theme::Dark => "dark",
        };
        write!(
            f,
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
             <style>:root {{ color-scheme: {scheme}; }}\n{STYLE}</style>\n<h1>{title}</h1>\n"
        )?;
        self.write_findings(f)?;
        self.write_buttons(f)?;
        // All rows are parts of one film, which finds out only once how waits end.
        let film = self.film.clone().frames(0..=u64::MAX);
        for &size in &self.rows {
            self.write_rows(f, &film, size)?;
        }
        write!(f, "<script>{SCRIPT}</script>\n</html>\n")
    }
}

impl Html<'_> {
    fn write_findings(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let findings = self.film.findings();
        if findings.is_empty() {
            return Ok(());
        }
        writeln!(f, "<h2>Look here</h2>\n<ul>")?;
        for finding in findings {
            let (frame, text) = (finding.frame, escape(&finding.to_string()));
            writeln!(
                f,
                "<li><a href=\"#\" data-at=\"{frame}\">frame {frame}</a> {text}</li>"
            )?;
        }
        writeln!(f, "</ul>")
    }

    fn write_buttons(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut buttons = String::new();
        for size in &self.rows {
            let _ = write!(buttons, " <button data-frames=\"{size}\">{size}</button>");
        }
        writeln!(f, "<p>Frames in a row:{buttons}</p>")
    }

    /// The pictures with so many frames in each. The first begins at a round frame.
    fn write_rows(&self, f: &mut fmt::Formatter<'_>, film: &Film, size: u64) -> fmt::Result {
        writeln!(f, "<div class=\"rows\" data-frames=\"{size}\">")?;
        let (first, last) = film.range().map_or((1, 0), RangeInclusive::into_inner);
        let mut from = first / size * size;
        while from <= last {
            let to = from.saturating_add(size - 1);
            let part = film.part(from.max(first)..=to.min(last));
            let svg = part.svg().most_lanes(self.most_lanes);
            let svg = svg.theme(self.theme).width(self.width).findings(false);
            let svg = svg.title(format!("Frames {} to {}", from.max(first), to.min(last)));
            writeln!(
                f,
                "<section data-from=\"{from}\" data-to=\"{to}\">{svg}</section>"
            )?;
            let Some(next) = from.checked_add(size) else {
                break;
            };
            from = next;
        }
        writeln!(f, "</div>")
    }
}

const STYLE: &str = "\
body { margin: 24px; font: 15px/1.5 Inter, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif; }
h1 { font-size: 22px; } h2 { font-size: 16px; }
li { margin: 6px 0; max-width: 110em; }
section { margin: 16px 0; overflow-x: auto; }
button { font: inherit; } button.on { font-weight: 700; }
";

/// Shows the rows of one size, and scrolls to a frame.
const SCRIPT: &str = "
const all = [...document.querySelectorAll('.rows')];
const sizes = all.map(rows => +rows.dataset.frames);
const asked = new URLSearchParams(location.search);
let size = sizes[0];
function choose(frames) {
  size = sizes.reduce((a, b) => Math.abs(b - frames) < Math.abs(a - frames) ? b : a);
  all.forEach(rows => rows.hidden = +rows.dataset.frames !== size);
  document.querySelectorAll('button').forEach(it => it.className = +it.dataset.frames === size ? 'on' : '');
}
function go(frame) {
  const rows = all.find(rows => !rows.hidden);
  const row = [...rows.children].find(row => +row.dataset.from <= frame && frame <= +row.dataset.to);
  if (row) row.scrollIntoView();
}
document.addEventListener('click', event => {
  const data = event.target.dataset;
  if (event.target.tagName === 'BUTTON') choose(+data.frames);
  if (data.at) { event.preventDefault(); choose(Math.min(...sizes)); go(+data.at); }
});
document.addEventListener('keydown', event => {
  const at = sizes.indexOf(size);
  if (event.key === '+') choose(sizes[Math.min(at + 1, sizes.length - 1)]);
  if (event.key === '-') choose(sizes[Math.max(at - 1, 0)]);
});
choose(+(asked.get('frames') || sizes[Math.min(1, sizes.length - 1)]));
if (asked.get('at')) go(+asked.get('at'));
";
