//! A film as a picture.

mod arrows;
mod html;
mod lane;
mod page;
mod rows;
mod scale;
mod style;

use std::collections::{BTreeSet, HashMap};
use std::fmt::{self, Write as _};
use std::sync::Arc;

use framestep::task::Outcome;

use crate::film::Film;
use crate::findings::{FindingKind, Rest};
use crate::lanes::{ArrowKind, At, Bar, Emit, Lane, Lanes};
use crate::record::{NONE, phase_letter, phase_word};
use crate::text;

pub use html::Html;
use page::{Page, fit, width, wrap};
use rows::{Row, Rows};
use scale::Scale;
pub use style::Theme;

const MARGIN: f64 = 24.0;
const OWNER: f64 = 26.0;
const HIDDEN: f64 = 22.0;
const AXIS: f64 = 40.0;
const MOST_FINDINGS: usize = 5;

/// A film as a picture, returned by [`Film::svg`]. Print it with `{}`.
///
/// - Each script has a lane, in a group with the others of its owner.
/// - A bar is a wait. Its colour is the kind of the wait.
///   It is dashed if it is a timer on another clock than most of the script's timers.
/// - A dot (in a narrow picture, a tick) is a poll. A letter in it is the phase, if it is
///   not Update: see [`Diagram`](crate::Diagram). It is red if the poll took four
///   milliseconds or longer, which needs a [stopwatch](crate::Recorder::stopwatch).
/// - An arrow leads from the end of a script to the script that joined it, from an
///   emission to the scripts that it woke, and from a script to those that it started.
/// - Hover over anything to see the frame, the phase and the line of code.
/// - Below are the first [findings](Film::findings).
///
/// With more scripts than [lanes](Svg::most_lanes), the picture shows those with findings, those
/// that were stopped, wait to the end or longer than usual, or emit what nobody hears, and the
/// busiest. It says how many are left out, and how to see them.
#[derive(Clone, Debug)]
pub struct Svg<'a> {
    film: &'a Film,
    theme: Theme,
    title: String,
    width: f64,
    most_lanes: usize,
    has_findings: bool,
}

impl Film {
    /// Draws the film as an SVG. [Cut](Film::frames) a long film first: a picture is
    /// readable up to about a hundred frames.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use framestep_timeline::Theme;
    ///
    /// # let recorder = framestep_timeline::Recorder::new();
    /// let film = recorder.film();
    /// std::fs::write("film.svg", film.svg().theme(Theme::Dark).to_string())?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn svg(&self) -> Svg<'_> {
        Svg {
            film: self,
            theme: Theme::Auto,
            title: "Timeline".to_owned(),
            width: 1_200.0,
            most_lanes: 40,
            has_findings: true,
        }
    }
}

impl Svg<'_> {
    /// The colours. Without this, they follow the reader's system.
    #[must_use]
    pub fn theme(mut self, theme: Theme) -> Self {
        self.theme = theme;
        self
    }

    /// The heading.
    #[must_use]
    pub fn title(mut self, title: impl AsRef<str>) -> Self {
        self.title = text::visible(title.as_ref());
        self
    }

    /// The width in pixels, from 400 to 20,000; the default is 1,200. The height follows
    /// from the content.
    #[must_use]
    pub fn width(mut self, width: u32) -> Self {
        self.width = f64::from(width.clamp(400, 20_000));
        self
    }

    /// The most scripts that have a lane; the default is 40.
    #[must_use]
    pub fn most_lanes(mut self, lanes: usize) -> Self {
        self.most_lanes = lanes.max(1);
        self
    }

    /// Whether the findings are listed below the picture, which is the default.
    #[must_use]
    pub fn findings(mut self, has_findings: bool) -> Self {
        self.has_findings = has_findings;
        self
    }
}

impl fmt::Display for Svg<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.draw())
    }
}

/// A picture under construction.
struct Picture<'a> {
    svg: &'a Svg<'a>,
    film: &'a Film,
    lanes: &'a Lanes,
    rows: Rows,
    /// The height of a lane.
    lane: f64,
    left: f64,
    right: f64,
    page: Page,
    /// Where the middle of the lane of a script is.
    middles: HashMap<u32, f64>,
    /// The kinds of waits that occur.
    hues: Vec<bool>,
    has_pauses: bool,
    has_slow_polls: bool,
    has_endless: bool,
    rest: Arc<Rest>,
}

impl Svg<'_> {
    fn draw(&self) -> String {
        let svg = self;
        let lanes = &svg.film.lanes();
        let rest = svg.film.rest(lanes);
        let rows = rows::of(svg.film, lanes, &rest, svg.most_lanes);
        let scripts = rows
            .rows
            .iter()
            .filter(|row| matches!(row, Row::Script(_)))
            .count();
        let lane = match scripts {
            0..=14 => 30.0,
            15..=28 => 25.0,
            _ => 21.0,
        };
        let mut picture = Picture {
            svg,
            film: svg.film,
            lanes,
            left: gutter(svg.film, lanes, &rows.rows, svg.width),
            right: svg.width - MARGIN,
            rows,
            lane,
            page: Page::default(),
            middles: HashMap::new(),
            hues: vec![false; style::HUES.len()],
            has_pauses: false,
            has_slow_polls: false,
            has_endless: false,
            rest,
        };
        picture.draw()
    }
}

/// The room for names at the left.
fn gutter(film: &Film, lanes: &Lanes, rows: &[Row], whole: f64) -> f64 {
    let names = rows.iter().map(|row| match row {
        Row::Host => 0.0,
        Row::Owner { name, scripts } => {
            (width(name) + width(&scripts.to_string()) + 1.0) * 12.0 - 16.0
        }
        Row::Script(at) => {
            let script = lanes.lanes[*at].script;
            width(&film.name(script)) * 13.0 + width(film.label(script)) * 11.0 + 8.0
        }
        Row::Hidden { words, .. } => width(words) * 12.0,
    });
    let widest = names.fold(60.0, f64::max).min(whole * 0.24).min(260.0);
    MARGIN + 14.0 + widest + 16.0
}

impl Picture<'_> {
    fn draw(&mut self) -> String {
        let scale = Scale::new(&self.lanes.columns, self.left, self.right);
        let top = MARGIN + 50.0 + AXIS;
        let bottom = top + self.heights().iter().sum::<f64>() + 8.0;
        self.draw_rows(&scale, top, bottom);
        self.draw_axis(&scale, top);
        let left_out = self.draw_arrows(&scale);
        self.draw_emits(&scale);
        self.draw_marks(&scale, top, bottom);
        let mut end = self.draw_legend(bottom + 24.0, left_out);
        if self.svg.has_findings {
            end = self.draw_findings(end);
        }
        self.draw_heading();
        self.frame_all(end + MARGIN - 6.0)
    }

    fn heights(&self) -> Vec<f64> {
        let height = |row: &Row| match row {
            Row::Host | Row::Script(_) => self.lane,
            Row::Owner { .. } => OWNER + 8.0,
            Row::Hidden { .. } => HIDDEN + 4.0,
        };
        self.rows.rows.iter().map(height).collect()
    }

    /// The element around all others, with the style sheet.
    fn frame_all(&mut self, height: f64) -> String {
        let (width, height) = (self.svg.width, height.ceil());
        let body = std::mem::take(&mut self.page).into_text();
        let title = page::escape(&self.svg.title);
        let mut sheet = style::sheet(self.svg.theme);
        for script in self.middles.keys().collect::<BTreeSet<_>>() {
            let _ = writeln!(
                sheet,
                "svg:has(.lane.l{script}:hover) .arrow:not(.l{script}) {{ opacity: .15; }}\n\
                 svg:has(.lane.l{script}:hover) .arrow.l{script} {{ stroke-opacity: 1; stroke-width: 2; }}"
            );
        }
        let hues = [
            style::ARROW_JOIN,
            style::ARROW_SIGNAL,
            style::ARROW_WAKE,
            style::ARROW_SPAWN,
        ];
        let mut heads = String::new();
        for hue in hues {
            let _ = writeln!(
                heads,
                "<marker id=\"a{hue}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"6.5\" \
                 markerHeight=\"6.5\" orient=\"auto-start-reverse\">\
                 <path class=\"f{hue}\" d=\"M0 .6L7.6 4L0 7.4Z\"/></marker>"
            );
        }
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{title}</title>\n<style>\n{sheet}</style>\n\
             <defs>\n<pattern id=\"pause\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" \
             patternTransform=\"rotate(45)\"><line class=\"pause-line\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"7\"/></pattern>\n\
             {heads}</defs>\n<rect class=\"back\" width=\"{width}\" height=\"{height}\"/>\n{body}</svg>\n"
        )
    }

    fn draw_heading(&mut self) {
        let room = (self.right - MARGIN) / 20.0;
        self.page.text(
            "t1 ink",
            (MARGIN, MARGIN + 16.0),
            &fit(&self.svg.title, room),
        );
        let mut facts = Vec::new();
        if let (Some(first), Some(last)) = (self.lanes.columns.first(), self.lanes.columns.last()) {
            facts.push(format!(
                "frames {} to {}",
                text::count(first.frame),
                text::count(last.frame)
            ));
            let from = text::about(first.elapsed);
            facts.push(format!(
                "{from} to {} on the game clock",
                text::about(last.elapsed)
            ));
        }
        facts.push(text::counted(self.lanes.lanes.len() as u64, "script"));
        if self.rows.hidden > 0 {
            facts.push(format!(
                "{} of them not shown: most_lanes({}) shows all",
                text::count(self.rows.hidden as u64),
                self.lanes.lanes.len(),
            ));
        }
        if self.film.dropped.events > 0 {
            facts.push(self.film.dropped.to_string());
        }
        let facts = fit(&facts.join("  ·  "), (self.right - MARGIN) / 12.5);
        self.page.text("t2 soft", (MARGIN, MARGIN + 37.0), &facts);
    }

    fn draw_rows(&mut self, scale: &Scale<'_>, top: f64, bottom: f64) {
        let heights = self.heights();
        let rows = std::mem::take(&mut self.rows.rows);
        self.draw_panels(&rows, &heights, top, bottom);
        self.draw_stripes(scale, top, bottom);
        let mut y = top;
        for (row, height) in rows.iter().zip(&heights) {
            let middle = y + height / 2.0;
            match row {
                Row::Host => {
                    self.page
                        .text("t3 soft", (MARGIN + 14.0, middle + 4.5), "host");
                    self.middles.insert(NONE, middle);
                }
                Row::Owner { name, scripts } => self.draw_owner(name, *scripts, y + 8.0),
                Row::Script(at) => self.draw_lane(scale, *at, middle),
                Row::Hidden { words, polls } => self.draw_hidden(scale, words, polls, y),
            }
            y += height;
        }
        self.rows.rows = rows;
    }

    /// A panel behind each owner.
    fn draw_panels(&mut self, rows: &[Row], heights: &[f64], top: f64, bottom: f64) {
        let mut y = top;
        let mut begin = top;
        let w = self.right - MARGIN + 10.0;
        let panel = |page: &mut Page, from: f64, to: f64| {
            if to > from {
                page.rect("panel", (MARGIN, from), (w, to - from), 7.0, "");
            }
        };
        for (row, height) in rows.iter().zip(heights) {
            if matches!(row, Row::Owner { .. }) {
                panel(&mut self.page, begin, y);
                begin = y + 6.0;
            }
            y += height;
        }
        panel(&mut self.page, begin, bottom - 4.0);
    }

    /// Every second frame, or every second label, has a darker background.
    fn draw_stripes(&mut self, scale: &Scale<'_>, top: f64, bottom: f64) {
        let step = if scale.frame >= 12.0 {
            1
        } else {
            scale.label_step(52.0)
        };
        let columns = self.lanes.columns.len();
        for from in (0..columns).step_by(step * 2) {
            let to = (from + step).min(columns);
            let (x, end) = (scale.begin_of(from), scale.begin_of(to));
            self.page.rect(
                "stripe",
                (x, top - 6.0),
                (end - x, bottom - top + 2.0),
                0.0,
                "",
            );
        }
    }

    fn draw_owner(&mut self, name: &str, scripts: usize, y: f64) {
        let room = (self.left - MARGIN - 20.0) / 12.0;
        let name = fit(name, room - 1.6);
        self.page.text("t5 ink", (MARGIN + 10.0, y + 15.0), &name);
        let at = MARGIN + 10.0 + (width(&name) * 1.07 + 0.7) * 12.0;
        self.page
            .text("t4 faint", (at, y + 15.0), &text::count(scripts as u64));
    }

    /// One strip for all scripts without a lane: the more polls, the higher. The square
    /// root keeps few polls visible beside many.
    fn draw_hidden(&mut self, scale: &Scale<'_>, words: &str, polls: &[u32], y: f64) {
        let words = fit(words, (self.left - MARGIN - 24.0) / 12.0);
        self.page
            .text("t2 faint", (MARGIN + 14.0, y + HIDDEN / 2.0 + 4.0), &words);
        let most = polls.iter().copied().max().unwrap_or(0).max(1);
        // No more strips than pixels.
        let step = scale.label_step(1.0);
        let base = y + HIDDEN - 3.0;
        for (at, chunk) in polls.chunks(step).enumerate() {
            let sum = chunk.iter().copied().max().unwrap_or(0);
            if sum == 0 {
                continue;
            }
            let height = (HIDDEN - 6.0) * (f64::from(sum) / f64::from(most)).sqrt().max(0.1);
            let x = scale.begin_of(at * step);
            let gap = if scale.frame > 6.0 { 1.0 } else { 0.0 };
            let title = match self.lanes.columns.get(at * step) {
                Some(column) => format!(
                    "{} in frame {}",
                    text::counted(u64::from(sum), "poll"),
                    column.frame
                ),
                None => String::new(),
            };
            let w = scale.frame * step as f64 - gap;
            self.page
                .rect("heat", (x, base - height), (w, height), 1.0, &title);
        }
    }

    /// The numbers of the frames, the game clock, and the phases.
    fn draw_axis(&mut self, scale: &Scale<'_>, top: f64) {
        let y = top - 10.0;
        self.page
            .text("t4 faint", (MARGIN + 14.0, y - 17.0), "frame");
        let middle = |at: usize| {
            let half = if scale.frame >= 12.0 {
                scale.frame / 2.0
            } else {
                0.0
            };
            scale.begin_of(at) + half
        };
        let is_inside = |x: f64| x + 10.0 <= self.right + 8.0;
        let columns = &self.lanes.columns;
        let step = scale.label_step(56.0);
        for at in scale::round_steps(columns, step as u64, |column| column.frame) {
            let (x, frame) = (middle(at), columns[at].frame);
            if is_inside(x) {
                self.page
                    .text("t3 ink mid", (x, y - 17.0), &frame.to_string());
            }
        }
        // Between few frames, their own times say more than round ones.
        let tick = scale.tick_ns(72.0);
        let (tick, at_frames) = if scale.frame * 4.0 > 72.0 {
            (
                1,
                Some(scale::round_steps(columns, step as u64, |column| {
                    column.frame
                })),
            )
        } else {
            (tick, None)
        };
        let at_times = || scale::round_steps(columns, tick, |column| column.elapsed);
        for at in at_frames.unwrap_or_else(at_times) {
            let (x, elapsed) = (middle(at), columns[at].elapsed);
            // The first frame at or past a round moment stands for it.
            let round = if tick > 1 {
                elapsed / tick * tick
            } else {
                elapsed
            };
            let text = format!("{:.3}", round as f64 / 1e9);
            let text = text.trim_end_matches('0').trim_end_matches('.');
            if is_inside(x) {
                self.page
                    .text("t4 faint mid", (x, y - 3.0), &format!("{text} s"));
            }
        }
        if scale.frame < 12.0 {
            return;
        }
        for at in 0..self.lanes.columns.len() {
            let slots = scale.slots(at);
            for (number, &(phase, x)) in slots.iter().enumerate() {
                if slots.len() > 1 && number > 0 {
                    let path = format!("M{x:.1} {:.1}v8", top - 6.0);
                    self.page.path("grid", &path, "");
                }
                let next = slots
                    .get(number + 1)
                    .map_or(scale.begin_of(at + 1), |next| next.1);
                if next - x > 13.0 && slots.len() > 1 {
                    let letter = match phase_letter(phase) {
                        '*' => 'U',
                        letter => letter,
                    };
                    self.page.text(
                        "t4 faint mid",
                        (x.midpoint(next), top + 3.0),
                        &letter.to_string(),
                    );
                }
            }
        }
    }

    fn draw_emits(&mut self, scale: &Scale<'_>) {
        for emit in &self.lanes.emits {
            let Some(&y) = self.middles.get(&emit.source) else {
                continue;
            };
            let x = scale.x(emit.at);
            let size = if scale.frame >= 12.0 { 5.5 } else { 3.5 };
            let name = self.film.text(emit.name);
            let mut title = format!(
                "{} emits {name}\n{}",
                self.film.name_and_id(emit.source),
                self.moment(emit.at)
            );
            if let Some(after) = self.film.place(emit.after) {
                let _ = write!(title, "\nafter {after}");
            }
            if emit.value != NONE {
                let _ = write!(title, "\nits value: {}", self.film.text(emit.value));
            }
            if let Some(origin) = self.film.origin(emit.name) {
                let _ = write!(title, "\n{origin}");
            }
            let class = if emit.is_unheard() {
                title.push_str("\nnobody listens");
                "hollow"
            } else {
                "h4"
            };
            let path = format!(
                "M{x:.1} {:.1}l{size} {size}l-{size} {size}l-{size} -{size}Z",
                y - size
            );
            self.page.path(class, &path, &title);
            if emit.source == NONE && scale.frame * 3.0 > width(&name) * 11.0 {
                self.page
                    .text("t4 soft", (x + 8.0, y + 4.0), &fit(&name, 20.0));
            }
        }
    }

    /// The marks of the user: a line through all lanes, with the text at its top.
    fn draw_marks(&mut self, scale: &Scale<'_>, top: f64, bottom: f64) {
        let mut free = f64::NEG_INFINITY;
        for &(at, name) in &self.lanes.marks {
            let x = scale.x(at);
            let name = self.film.text(name);
            let title = format!("{name}\n{}", self.moment(at));
            let path = format!("M{x:.1} {:.1}V{bottom:.1}", top - 6.0);
            self.page.path("mark", &path, &title);
            let name = fit(&name, 16.0);
            if x > free {
                self.page
                    .titled("t4 soft", (x + 4.0, bottom + 4.0), &name, &title);
                free = x + width(&name) * 11.0 + 10.0;
            }
        }
    }

    /// The frame and the phase of an event.
    fn moment(&self, at: At) -> String {
        let Some(column) = self.lanes.columns.get(at.column) else {
            return String::new();
        };
        let run = column
            .runs
            .iter()
            .find(|run| run.from <= at.event && at.event <= run.to);
        let elapsed = text::seconds(column.elapsed);
        match run {
            Some(run) => format!(
                "frame {}, {elapsed}, {}",
                column.frame,
                phase_word(run.phase)
            ),
            None => format!("frame {}, {elapsed}", column.frame),
        }
    }

    /// The legend of the colours and shapes that occur. Returns where it ends.
    fn draw_legend(&mut self, top: f64, left_out: usize) -> f64 {
        let poll = self.poll_words();
        let mut x = MARGIN + 2.0;
        let mut y = top;
        let right = self.right;
        let mut place = |words: &str, sample: f64| {
            let w = sample + 7.0 + width(words) * 12.5 + 20.0;
            if x + w > right + 20.0 {
                x = MARGIN + 2.0;
                y += 22.0;
            }
            let at = (x, y);
            x += w;
            at
        };
        let (x0, y0) = place(&poll, 12.0);
        self.page.circle("poll", (x0 + 6.0, y0), 5.0, "");
        self.page.text("t2 soft", (x0 + 18.0, y0 + 4.5), &poll);
        if self.has_slow_polls {
            let words = "slow: 4 ms or longer, or long for its script";
            let (x, y) = place(words, 12.0);
            self.page.circle("poll slow", (x + 6.0, y), 5.0, "");
            self.page.text("t2 soft", (x + 18.0, y + 4.5), words);
        }
        for (number, words) in style::HUES.iter().enumerate() {
            if !self.hues[number] {
                continue;
            }
            let (x, y) = place(words, 22.0);
            self.page.rect(
                &format!("bar h{number}"),
                (x, y - 6.0),
                (22.0, 12.0),
                3.0,
                "",
            );
            self.page.text("t2 soft", (x + 29.0, y + 4.5), words);
        }
        self.draw_rare(&mut place);
        if self.has_pauses {
            let (x, y) = place("paused", 22.0);
            self.page.rect("pause", (x, y - 6.0), (22.0, 12.0), 3.0, "");
            self.page.text("t2 soft", (x + 29.0, y + 4.5), "paused");
        }
        let outcomes = [
            (Outcome::Stopped, "stopped"),
            (Outcome::Panicked, "panicked"),
        ];
        for (outcome, words) in outcomes {
            let mut ended = self.lanes.lanes.iter().filter_map(|lane| lane.ended);
            if ended.any(|(_, is)| is == outcome) {
                let (x, y) = place(words, 12.0);
                self.draw_end((x + 6.0, y), outcome, "");
                self.page.text("t2 soft", (x + 18.0, y + 4.5), words);
            }
        }
        if !self.lanes.emits.is_empty() {
            let (x, y) = place("emits", 12.0);
            self.page.path(
                "h4",
                &format!("M{} {}l5.5 5.5l-5.5 5.5l-5.5 -5.5Z", x + 6.0, y - 5.5),
                "",
            );
            self.page.text("t2 soft", (x + 18.0, y + 4.5), "emits");
        }
        for kind in [
            ArrowKind::Join,
            ArrowKind::Signal,
            ArrowKind::Wake,
            ArrowKind::Spawn,
        ] {
            if !self
                .lanes
                .arrows
                .iter()
                .any(|arrow| arrow.kind == kind && self.is_drawn(arrow))
            {
                continue;
            }
            let (words, hue, class) = arrows::look(kind);
            let (x, y) = place(words, 26.0);
            let path = format!("M{x:.1} {y:.1}h25\" marker-end=\"url(#a{hue})");
            self.page.path(class, &path, "");
            self.page.text("t2 soft", (x + 33.0, y + 4.5), words);
        }
        if left_out > 0 {
            let words = format!("{} not drawn", text::counted(left_out as u64, "arrow"));
            let (x, y) = place(&words, 0.0);
            self.page.text("t2 faint", (x, y + 4.5), &words);
        }
        y + 14.0
    }

    /// The legend of what says that something may be wrong.
    fn draw_rare(&mut self, place: &mut dyn FnMut(&str, f64) -> (f64, f64)) {
        if self.has_endless {
            let words = "still waits at the end";
            let (x, y) = place(words, 22.0);
            let size = (22.0, 12.0);
            self.page.rect("bar endless", (x, y - 6.0), size, 3.0, "");
            self.page.text("t2 soft", (x + 29.0, y + 4.5), words);
        }
        let has_other_clock = |lane: &Lane| {
            let is_other = |bar: &Bar| self.rest.is_on_other_clock(lane, bar);
            self.middles.contains_key(&lane.script) && lane.waits.iter().any(is_other)
        };
        if self.lanes.lanes.iter().any(has_other_clock) {
            let words = "timer on another clock than usual";
            let (x, y) = place(words, 22.0);
            let size = (22.0, 12.0);
            self.page.rect("bar h1 odd", (x, y - 6.0), size, 3.0, "");
            self.page.text("t2 soft", (x + 29.0, y + 4.5), words);
        }
        if self.lanes.emits.iter().any(Emit::is_unheard) {
            let words = "emits, and nobody listens";
            let (x, y) = place(words, 12.0);
            let path = format!("M{} {}l5.5 5.5l-5.5 5.5l-5.5 -5.5Z", x + 6.0, y - 5.5);
            self.page.path("hollow", &path, "");
            self.page.text("t2 soft", (x + 18.0, y + 4.5), words);
        }
    }

    /// The legend of the dots, with the letters that occur.
    fn poll_words(&self) -> String {
        let polls = self.lanes.lanes.iter().flat_map(|lane| &lane.polls);
        let phases: BTreeSet<u16> = polls.map(|poll| poll.phase).collect();
        let named = phases
            .into_iter()
            .filter(|phase| phase_letter(*phase) != '*');
        let letter = |phase: u16| format!("{}: {}", phase_letter(phase), phase_word(phase));
        match named.map(letter).collect::<Vec<_>>().join(", ") {
            letters if letters.is_empty() => "poll".to_owned(),
            letters => format!("poll ({letters})"),
        }
    }

    fn draw_findings(&mut self, top: f64) -> f64 {
        let findings = self.film.findings();
        if findings.is_empty() {
            return top;
        }
        let mut y = top + 22.0;
        self.page.text("t5 ink", (MARGIN + 2.0, y), "Look here");
        let room = (self.right - MARGIN - 22.0) / 12.5;
        for finding in findings.iter().take(MOST_FINDINGS) {
            y += 20.0;
            let is_bug = finding.kind <= FindingKind::Never;
            let class = if is_bug { "alarm" } else { "f4" };
            self.page.circle(class, (MARGIN + 7.0, y - 4.0), 4.0, "");
            for (number, line) in wrap(&finding.to_string(), room).iter().enumerate() {
                y += if number > 0 { 16.0 } else { 0.0 };
                self.page.text("t2 ink", (MARGIN + 20.0, y), line);
            }
        }
        if let Some(more) = findings.len().checked_sub(MOST_FINDINGS + 1) {
            y += 20.0;
            let more = format!("and {}", text::counted(more as u64 + 1, "more finding"));
            self.page.text("t2 faint", (MARGIN + 20.0, y), &more);
        }
        y + 4.0
    }
}
