//! The lane of one script: its life, its waits, its polls and its end.

use std::fmt::Write as _;

use framestep::task::Outcome;

use crate::lanes::{Bar, Lane, Poll};
use crate::record::{NONE, WaitKind, clock_word, phase_letter};
use crate::text;

use super::page::{fit, width};
use super::scale::Scale;
use super::{MARGIN, Picture, style};

/// Waits of a script at the same time that get a bar each.
const MOST_TOGETHER: usize = 3;
/// Values of a watch in the title of a wait for it.
const MOST_VALUES: usize = 5;

/// Several equal waits in a row that are drawn as one bar.
struct Group<'a> {
    first: &'a Bar,
    last: &'a Bar,
    count: usize,
    from: f64,
    to: f64,
    /// Which of the bars at the same time, and of how many.
    row: usize,
}

/// Whether the wait is for a wake, and the script has another wait at that time. While
/// somebody holds the waker of a script, a wake is one of its waits. A bar for it would say
/// nothing.
fn is_beside_another(lane: &Lane, bar: &Bar) -> bool {
    let overlaps = |other: &Bar| {
        other.wait.wait_kind() != WaitKind::Wake
            && other.from <= bar.to.unwrap_or(other.from)
            && other.to.is_none_or(|to| to > bar.from)
    };
    let near = lane
        .waits
        .partition_point(|other| other.from < bar.from)
        .saturating_sub(8);
    bar.wait.wait_kind() == WaitKind::Wake && lane.waits[near..].iter().take(16).any(overlaps)
}

impl Picture<'_> {
    pub(super) fn draw_lane(&mut self, scale: &Scale<'_>, at: usize, middle: f64) {
        let lane = &self.lanes.lanes[at];
        self.middles.insert(lane.script, middle);
        // Arrows of the lane under the mouse are drawn more strongly.
        self.page
            .raw(format_args!("<g class=\"lane l{}\">", lane.script));
        let (height, right) = (self.lane, scale.begin_of(self.lanes.columns.len()));
        let size = (right - MARGIN, height);
        self.page
            .rect("hit", (MARGIN, middle - height / 2.0), size, 0.0, "");
        self.draw_name(lane, middle);
        let from = if lane.spawned.is_some() {
            scale.x(lane.from)
        } else {
            scale.begin_of(0)
        };
        let to = match lane.ended {
            Some((at, _)) => scale.x(at),
            None => scale.begin_of(self.lanes.columns.len()),
        };
        self.page
            .rect("life", (from, middle - 1.0), (to - from, 2.0), 0.0, "");
        self.draw_waits(scale, lane, middle);
        for pause in &lane.pauses {
            self.has_pauses = true;
            let from = scale.x(pause.from);
            let to = pause
                .to
                .map_or(scale.begin_of(self.lanes.columns.len()), |to| scale.x(to));
            let mut title = format!(
                "paused in frame {} by {}",
                pause.since,
                self.film.name_and_id(pause.by)
            );
            if let Some(after) = self.film.place(pause.after) {
                let _ = write!(title, "\nafter {after}");
            }
            let height = self.lane * 0.66;
            self.page.rect(
                "pause",
                (from, middle - height / 2.0),
                (to - from, height),
                3.0,
                &title,
            );
        }
        self.draw_polls(scale, lane, middle);
        if let Some((at, outcome)) = lane.ended {
            let words = match outcome {
                Outcome::Finished => "finished",
                Outcome::Stopped => "stopped",
                Outcome::Panicked => "panicked",
            };
            let mut title = format!(
                "{} {words}\n{}",
                self.film.name_and_id(lane.script),
                self.moment(at)
            );
            if let Some(stopped) = &lane.stopped {
                let by = self.film.stopped_words(lane.script, stopped);
                let _ = write!(title, "\n{by}");
            }
            self.draw_end((scale.x(at), middle), outcome, &title);
        }
        self.page.raw("</g>");
    }

    fn draw_name(&mut self, lane: &Lane, middle: f64) {
        let label = self.film.label(lane.script);
        let room = self.left - MARGIN - 24.0;
        let label = if width(label) * 11.0 + 60.0 < room {
            label
        } else {
            ""
        };
        let name = self.film.name(lane.script);
        let name = fit(&name, (room - width(label) * 11.0 - 8.0) / 13.0);
        let title = self.name_title(lane);
        self.page
            .titled("t3 ink", (MARGIN + 14.0, middle + 4.5), &name, &title);
        if !label.is_empty() {
            self.page
                .text("t4 faint end", (self.left - 10.0, middle + 4.5), label);
        }
    }

    /// What a script has waited for lately.
    fn name_title(&self, lane: &Lane) -> String {
        let mut title = self.film.name_and_id(lane.script);
        if let Some(place) = self.film.place(self.film.script(lane.script).place) {
            let _ = write!(title, "\nstarted at {place}");
        }
        let words = self.film.last_waits(lane);
        if !words.is_empty() {
            let _ = write!(title, "\nits last waits:\n{}", words.join("\n"));
        }
        if let (Some(stopped), Some((at, _))) = (&lane.stopped, lane.ended) {
            let column = self.lanes.columns.get(at.column);
            let frame = column.map_or(0, |column| column.frame);
            let by = self.film.stopped_words(lane.script, stopped);
            let _ = write!(title, "\nstopped in frame {frame} {by}");
        }
        title
    }

    /// The values of a watch while a wait for it lasted.
    fn values(&self, bar: &Bar) -> String {
        if bar.wait.wait_kind() != WaitKind::Watch {
            return String::new();
        }
        let until = bar.to.unwrap_or(self.lanes.end());
        let values = self.lanes.values.iter();
        let seen = values.filter(|it| it.watch == bar.wait.other && it.at <= until);
        let seen: Vec<String> = seen
            .rev()
            .take(MOST_VALUES)
            .map(|it| {
                let column = self.lanes.columns.get(it.at.column);
                let frame = column.map_or(0, |column| column.frame);
                format!("{} in frame {frame}", self.film.text(it.value))
            })
            .collect();
        match seen.as_slice() {
            [] => String::new(),
            seen => format!("\nits value: {}", seen.join(", before ")),
        }
    }

    fn draw_waits(&mut self, scale: &Scale<'_>, lane: &Lane, middle: f64) {
        let end = scale.begin_of(self.lanes.columns.len());
        let mut groups: Vec<Group<'_>> = Vec::new();
        let mut rows = [f64::NEG_INFINITY; MOST_TOGETHER];
        for bar in lane
            .waits
            .iter()
            .filter(|bar| !is_beside_another(lane, bar))
        {
            let from = if bar.now.is_none() {
                scale.begin_of(0)
            } else {
                scale.x(bar.from)
            };
            let to = bar.to.map_or(end, |to| scale.x(to));
            let near = (scale.frame * 0.7).max(3.0);
            let same = groups.iter_mut().rev().take(MOST_TOGETHER).find(|group| {
                let wait = &group.last.wait;
                (wait.detail, wait.place, wait.phase)
                    == (bar.wait.detail, bar.wait.place, bar.wait.phase)
                    && from - group.to < near
                    && from >= group.to - 0.1
                    && (to - from < 24.0 || group.to - group.from < 24.0)
                    && to - from < 40.0
            });
            if let Some(group) = same {
                group.last = bar;
                group.to = to;
                group.count += 1;
                rows[group.row] = to;
                continue;
            }
            let free = rows.iter().position(|until| *until <= from + 0.5);
            let row = free.unwrap_or(MOST_TOGETHER - 1);
            rows[row] = to;
            groups.push(Group {
                first: bar,
                last: bar,
                count: 1,
                from,
                to,
                row,
            });
        }
        let together: Vec<usize> = groups
            .iter()
            .map(|group| {
                let meets =
                    |other: &&Group<'_>| other.from < group.to - 0.5 && other.to > group.from + 0.5;
                let rows = groups.iter().filter(meets).map(|other| other.row + 1);
                if groups.len() > 400 {
                    MOST_TOGETHER.min(group.row + 1)
                } else {
                    rows.max().unwrap_or(1)
                }
            })
            .collect();
        for (group, together) in groups.iter().zip(together) {
            self.draw_wait(lane, group, together, middle);
        }
    }

    fn draw_wait(&mut self, lane: &Lane, group: &Group<'_>, together: usize, middle: f64) {
        let hue = style::hue(group.first.wait.wait_kind());
        self.hues[hue] = true;
        let whole = self.lane * 0.64;
        let height = (whole - (together - 1) as f64 * 1.5) / together as f64;
        let y = middle - whole / 2.0 + group.row as f64 * (height + 1.5);
        let title = self.wait_title(lane, group);
        let size = (group.to - group.from, height);
        let mark = if self.rest.is_endless(lane, group.last) {
            self.has_endless = true;
            " endless"
        } else if self.rest.is_on_other_clock(lane, group.first) {
            " odd"
        } else {
            ""
        };
        let class = format!("bar h{hue}{mark}");
        self.page.rect(&class, (group.from, y), size, 3.0, &title);
        let room = (group.to - group.from - 22.0) / 11.0;
        if height >= 12.0 && room > 2.0 && group.count == 1 {
            let label = self.wait_label(group);
            if width(&label) <= room {
                self.page.text(
                    "t4 ink",
                    (group.from + 11.0, y + height / 2.0 + 4.0),
                    &label,
                );
            }
        }
    }

    /// The words in a bar.
    fn wait_label(&self, group: &Group<'_>) -> String {
        let wait = &group.first.wait;
        match wait.wait_kind() {
            WaitKind::Timer if wait.other == 0 => match group.first.now {
                Some(now) => text::about(wait.value.saturating_sub(now)).replace(".00", ""),
                None => format!("until {}", text::about(wait.value)),
            },
            WaitKind::Timer => {
                let clock = clock_word(wait.other).unwrap_or_default();
                format!("{clock}, until {}", text::about(wait.value))
            }
            WaitKind::Join => format!("join {}", self.film.name(wait.other)),
            kind if kind.has_name() => format!("{} {}", kind.word(), self.film.text(wait.other)),
            WaitKind::Frames => text::counted(wait.value, "frame"),
            WaitKind::Steps => text::counted(wait.value, "step"),
            kind => kind.word().to_owned(),
        }
    }

    fn wait_title(&self, lane: &Lane, group: &Group<'_>) -> String {
        let Group {
            first, last, count, ..
        } = group;
        let mut title = self.film.name_and_id(lane.script);
        let what = self.film.for_wait(&first.wait);
        let length = match (first.wait.wait_kind(), first.now) {
            (WaitKind::Timer, Some(now)) if first.wait.other == 0 => {
                format!(
                    "for {}, ",
                    text::seconds(first.wait.value.saturating_sub(now))
                )
            }
            _ => String::new(),
        };
        let _ = match count {
            1 => write!(title, " waits {length}{what}"),
            count => write!(
                title,
                " waits {} times in a row, first {length}{what}",
                text::count(*count as u64)
            ),
        };
        let ended = last.to.map_or("and goes on".to_owned(), |to| {
            format!(
                "to {}",
                self.lanes
                    .columns
                    .get(to.column)
                    .map_or(0, |column| column.frame)
            )
        });
        let _ = write!(title, "\nfrom frame {} {ended}", first.since);
        let place = self
            .film
            .line_of(lane.script, first.wait.place(), lane.places());
        if let Some(place) = place {
            let _ = write!(title, "\n{place}");
        }
        title.push_str(&self.values(last));
        title
    }

    fn draw_polls(&mut self, scale: &Scale<'_>, lane: &Lane, middle: f64) {
        let is_wide = scale.frame >= 22.0;
        let mut last = f64::NEG_INFINITY;
        for poll in &lane.polls {
            let x = scale.x(poll.from);
            let is_slow = self.film.is_timed && lane.is_slow(poll);
            if x - last < 0.8 && !is_slow {
                continue;
            }
            last = x;
            self.has_slow_polls |= is_slow;
            let slow = if is_slow { " slow" } else { "" };
            let dot = format!("poll{slow}");
            let title = self.poll_title(lane, poll);
            let letter = phase_letter(poll.phase);
            if is_wide && letter != '*' {
                self.page.circle(&dot, (x, middle), 6.2, &title);
                self.page
                    .text("letter", (x, middle + 3.0), &letter.to_string());
            } else if is_wide {
                self.page.circle(&dot, (x, middle), 4.6, &title);
            } else {
                let (w, h) = (if scale.frame > 5.0 { 2.0 } else { 1.0 }, self.lane * 0.5);
                // Among ticks, the colour of a thin one would be overlooked.
                let (w, h) = if is_slow { (w + 1.0, h * 1.4) } else { (w, h) };
                self.page.rect(
                    &format!("tick{slow}"),
                    (x - w / 2.0, middle - h / 2.0),
                    (w, h),
                    0.0,
                    &title,
                );
            }
        }
    }

    fn poll_title(&self, lane: &Lane, poll: &Poll) -> String {
        let mut title = format!("{} is polled", self.film.name_and_id(lane.script));
        if poll.by != NONE {
            let _ = write!(title, ", resumed by {}", self.film.text(poll.by));
        }
        let _ = write!(title, "\n{}", self.moment(poll.from));
        if self.film.is_timed && poll.is_over {
            let _ = write!(
                title,
                "\ntook {}",
                text::about(poll.stamps.1.saturating_sub(poll.stamps.0))
            );
        }
        let started = self.film.script(lane.script).place;
        if let Some(place) = self.film.place(if poll.place == NONE {
            started
        } else {
            poll.place
        }) {
            let _ = write!(title, "\nfrom {place}");
        }
        title
    }

    pub(super) fn draw_end(&mut self, (x, y): (f64, f64), outcome: Outcome, title: &str) {
        match outcome {
            Outcome::Finished => {
                self.page
                    .rect("tick", (x + 5.0, y - 7.0), (2.5, 14.0), 1.0, title);
            }
            Outcome::Stopped => self
                .page
                .rect("stop", (x - 4.5, y - 4.5), (9.0, 9.0), 1.5, title),
            Outcome::Panicked => {
                let path = format!("M{:.1} {:.1}l10 10m0 -10l-10 10", x - 5.0, y - 5.0);
                self.page.path("end-x", &path, title);
            }
        }
    }
}
