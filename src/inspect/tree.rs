//! How a snapshot prints: a coroutine that joins another is printed below it.

use std::fmt::{self, Write as _};

use crate::time::Phase;

use super::coroutine::{CoroutineInfo, Moment, State};
use super::cycles;
use super::names::{in_one_line, short};
use super::snapshot::Snapshot;
use super::wait::{TimerClock, Wait};

/// Names are not indented further than this, so that long chains stay on the
/// screen.
const DEEPEST: usize = 12;

/// Which coroutine is printed below which.
struct Forest {
    /// Positions in printing order, each with its depth.
    order: Vec<(usize, usize)>,
}

impl Forest {
    /// For each coroutine, `above` holds the one that it is printed below.
    fn new(mut above: Vec<Option<usize>>) -> Self {
        for cycle in cycles::of(&above) {
            above[cycle[0]] = None;
        }
        // For each position, a list of those below it: the first one, and the next.
        let count = above.len();
        let (mut first, mut next) = (vec![None; count], vec![None; count]);
        let mut roots = Vec::new();
        for position in (0..count).rev() {
            match above[position] {
                Some(above) => next[position] = first[above].replace(position),
                None => roots.push(position),
            }
        }
        let mut order = Vec::with_capacity(count);
        let mut stack: Vec<_> = roots.into_iter().map(|root| (root, 0)).collect();
        while let Some((position, depth)) = stack.pop() {
            order.push((position, depth));
            let below = std::iter::successors(first[position], |&at: &usize| next[at]);
            let from = stack.len();
            stack.extend(below.map(|below| (below, depth + 1)));
            stack[from..].reverse();
        }
        Forest { order }
    }
}

/// One column: its head, and the text of each coroutine.
struct Column {
    head: &'static str,
    cells: Vec<String>,
}

impl Column {
    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|cell| cell.chars().count());
        cells.chain([self.head.len()]).max().unwrap_or(0)
    }

    fn is_blank(&self) -> bool {
        self.cells.iter().all(String::is_empty)
    }
}

impl Snapshot {
    /// The coroutine that `coroutine` is printed below: the first that it joins.
    fn above(&self, coroutine: &CoroutineInfo) -> Option<usize> {
        let joined = coroutine.waits().find_map(Wait::joins)?;
        self.position(joined)
    }

    fn state_of(&self, coroutine: &CoroutineInfo) -> String {
        let mut text = String::new();
        let written = coroutine.write_state(&mut text, |text, wait| {
            write!(text, "{wait}")?;
            match wait.joins().and_then(|id| self.get(id)) {
                Some(joined) => write!(text, " {}", short(joined.name())),
                None => Ok(()),
            }
        });
        written.expect("writing to a `String` does not fail");
        text
    }

    fn columns(&self, forest: &Forest) -> Vec<Column> {
        let column = |head, cell: &dyn Fn(&CoroutineInfo, usize) -> String| Column {
            head,
            cells: {
                let lines = forest.order.iter();
                let cells = lines.map(|&(at, depth)| in_one_line(cell(self.at(at), depth)));
                cells.collect()
            },
        };
        let known = |text: Option<String>| text.unwrap_or_default();
        vec![
            column("id", &|c, _| c.id().to_string()),
            column("name", &|c, depth| {
                let indent = 2 * depth.min(DEEPEST);
                format!("{:indent$}{}", "", short(c.name()))
            }),
            column("state", &|c, _| self.state_of(c)),
            column("since", &|c, _| known(c.since().map(since))),
            column("waits at", &|c, _| places(c)),
            column("clock", &|c, _| match c.clock() {
                TimerClock::Game => String::new(),
                clock => clock.to_string(),
            }),
            column("owner", &|c, _| {
                known(c.owner().map(|owner| short(owner).to_owned()))
            }),
            column("spawned by", &|c, _| {
                known(c.parent().map(|p| p.to_string()))
            }),
            column("spawned at", &|c, _| {
                known(
                    c.spawned_at()
                        .map(|at| format!("{}:{}", at.file(), at.line())),
                )
            }),
        ]
    }

    fn write_head(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = self.time();
        let coroutines = if self.len() == 1 {
            "coroutine"
        } else {
            "coroutines"
        };
        write!(f, "frame {}, {:?}: ", time.frame, time.elapsed)?;
        write!(f, "{} {coroutines}", self.len())?;
        for (state, word) in [(State::Ready, "ready"), (State::Paused, "paused")] {
            let count = self.iter().filter(|c| c.state() == state).count();
            if count > 0 {
                write!(f, ", {count} {word}")?;
            }
        }
        writeln!(f)
    }

    /// Writes a line for each coroutine or cycle that cannot continue by itself.
    fn write_warnings(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for cycle in self.cycles() {
            f.write_str("! ")?;
            for id in &cycle {
                let name = self.get(*id).map_or("", |c| short(c.name()));
                let name = in_one_line(name.to_owned());
                write!(f, "{id} {name} joins ")?;
            }
            writeln!(f, "{}: a cycle that never ends", cycle[0])?;
        }
        for coroutine in self.iter().filter(|c| c.never_resumes()) {
            let name = in_one_line(short(coroutine.name()).to_owned());
            writeln!(
                f,
                "! {} {name} never resumes: it waits for nothing",
                coroutine.id()
            )?;
        }
        // Without a step, it is correct that the fixed phase has not run.
        let has_begun = self.time().frame > 0;
        let is_homeless =
            |c: &&CoroutineInfo| has_begun && !c.home_has_run() && c.home() != Phase::FixedUpdate;
        for coroutine in self.iter().filter(is_homeless) {
            let name = in_one_line(short(coroutine.name()).to_owned());
            writeln!(
                f,
                "! {} {name} is at home in {}, which the host has not run",
                coroutine.id(),
                coroutine.home()
            )?;
        }
        Ok(())
    }
}

/// The lines of the waits, if they are known, each once.
fn places(coroutine: &CoroutineInfo) -> String {
    let mut places: Vec<String> = Vec::new();
    for (_, at) in coroutine.waits_at() {
        let place = at.map(|at| format!("{}:{}", at.file(), at.line()));
        places.extend(place.filter(|place| !places.contains(place)));
    }
    places.join(" | ")
}

/// Writes the calls through which a coroutine has come to its waits, if they are known.
fn write_chains(f: &mut fmt::Formatter<'_>, coroutine: &CoroutineInfo) -> fmt::Result {
    for chain in coroutine.call_chains().flatten() {
        for call in chain.to_string().lines() {
            writeln!(f, "       in {}", in_one_line(call.to_owned()))?;
        }
    }
    Ok(())
}

fn since(moment: Moment) -> String {
    format!("frame {}, {:?}", moment.frame, moment.elapsed)
}

impl fmt::Display for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_head(f)?;
        self.write_warnings(f)?;
        for stop in self.stops() {
            writeln!(f, "  {}", in_one_line(stop.to_string()))?;
        }
        if self.is_empty() {
            return Ok(());
        }
        let forest = Forest::new(self.iter().map(|c| self.above(c)).collect());
        let mut columns = self.columns(&forest);
        columns.retain(|column| !column.is_blank());
        let widths: Vec<usize> = columns.iter().map(Column::width).collect();
        let mut line = String::new();
        for row in 0..=self.len() {
            line.clear();
            for (column, width) in columns.iter().zip(&widths) {
                let cell = match row.checked_sub(1) {
                    None => column.head,
                    Some(row) => &column.cells[row],
                };
                write!(line, "  {cell:width$}")?;
            }
            writeln!(f, "{}", line.trim_end())?;
            if let Some((at, _)) = row.checked_sub(1).map(|row| forest.order[row]) {
                write_chains(f, self.at(at))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Forest;

    #[test]
    fn each_is_printed_right_below_the_one_that_it_joins() {
        // 1 and 4 below 3, 0 below 4, 2 and 5 below each other, 6 below 5.
        let above = [Some(4), Some(3), Some(5), None, Some(3), Some(2), Some(5)];
        let forest = Forest::new(above.to_vec());
        let expected = [(2, 0), (5, 1), (6, 2), (3, 0), (1, 1), (4, 1), (0, 2)];
        assert_eq!(forest.order, expected);
    }

    #[test]
    fn a_long_chain_takes_no_recursion() {
        let above = (0..1_000_000_usize).map(|at| at.checked_sub(1)).collect();
        let forest = Forest::new(above);
        assert_eq!(forest.order.last(), Some(&(999_999, 999_999)));
    }
}
