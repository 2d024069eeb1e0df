//! The keys of the view.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::model::{Filter, Kind, Panel};

use super::view::{Ask, View};

/// The keys in the last line. The most important are first, because the line is cut.
pub(super) const HELP: [(&str, &str); 17] = [
    ("space", "pause"),
    ("n", "frame"),
    ("!", "next warning"),
    ("/", "filter"),
    ("r", "run again"),
    ("t", "loop"),
    ("b", "back"),
    (CLOSE, "close"),
    ("s", "step"),
    ("+-", "speed"),
    ("←→", "frames back"),
    ("k", "kind"),
    ("o", "order"),
    ("↵", "line"),
    ("p", "pause script"),
    ("x", "stop script"),
    ("f", "fold"),
];

/// Stands for the keys with which the host closes the panel.
pub(super) const CLOSE: &str = "";

impl View {
    /// Handles a key. Returns whether the panel uses it.
    ///
    /// The panel does not use keys such as Escape and `q`: the host can close it with them.
    /// See [`closes_on`](View::closes_on).
    pub fn key(&mut self, key: KeyEvent, panel: &mut Panel) -> bool {
        let is_chord = key
            .modifiers
            .intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        if key.kind == KeyEventKind::Release || is_chord {
            return false;
        }
        if self.is_typing {
            return self.type_key(key.code, panel);
        }
        if let Some(ask) = self.ask.take() {
            self.message = None;
            if let (KeyCode::Char('y'), Ask::Stop(id)) = (key.code, ask) {
                panel.stop(id);
                self.message = Some(format!("{id} is stopped"));
            }
            return true;
        }
        self.message = None;
        let page = isize::from(i16::try_from(self.page).unwrap_or(1));
        match key.code {
            KeyCode::Char(' ') => panel.set_paused(!panel.pace().paused),
            KeyCode::Char('n') => panel.one_frame(),
            KeyCode::Char('s') => panel.one_step(),
            KeyCode::Char('+' | '=') => panel.shift_speed(true),
            KeyCode::Char('-') => panel.shift_speed(false),
            KeyCode::Char('1') => panel.set_speed(1.0),
            KeyCode::Left if key.modifiers.contains(KeyModifiers::SHIFT) => panel.scrub(-30),
            KeyCode::Right if key.modifiers.contains(KeyModifiers::SHIFT) => panel.scrub(30),
            KeyCode::Left | KeyCode::Char('h') => panel.scrub(-1),
            KeyCode::Right | KeyCode::Char('l') => panel.scrub(1),
            KeyCode::Char('L') => panel.live(),
            KeyCode::Up => self.move_by(-1, panel),
            KeyCode::Down => self.move_by(1, panel),
            KeyCode::PageUp => self.move_by(-page, panel),
            KeyCode::PageDown => self.move_by(page, panel),
            KeyCode::Home => self.move_by(isize::MIN / 2, panel),
            KeyCode::End => self.move_by(isize::MAX / 2, panel),
            KeyCode::Char('!') | KeyCode::Tab => self.next_warning(panel),
            KeyCode::Char('/') => self.is_typing = true,
            KeyCode::Char('k') => next_kind(panel),
            KeyCode::Char('e') => {
                let filter = panel.filter_mut();
                filter.only_entity = !filter.only_entity;
            }
            KeyCode::Char('o') => panel.set_order(panel.order().next()),
            KeyCode::Char('f') => self.fold(panel),
            KeyCode::Char('F') => panel.fold_all(),
            KeyCode::Enter => self.enter(panel),
            KeyCode::Char('p') => pause_script(panel),
            KeyCode::Char('x') => self.ask_stop(panel),
            KeyCode::Char('r') if panel.can_restart() => panel.restart(),
            KeyCode::Char('t') if panel.can_rewind() => panel.toggle_loop(),
            KeyCode::Char('b') if panel.can_rewind() => panel.go_back(),
            KeyCode::Backspace | KeyCode::Delete => *panel.filter_mut() = Filter::default(),
            _ => return false,
        }
        true
    }

    fn type_key(&mut self, code: KeyCode, panel: &mut Panel) -> bool {
        let text = &mut panel.filter_mut().text;
        match code {
            KeyCode::Enter => self.is_typing = false,
            KeyCode::Esc => {
                text.clear();
                self.is_typing = false;
            }
            KeyCode::Backspace => drop(text.pop()),
            KeyCode::Char(c) => text.push(c),
            _ => return false,
        }
        true
    }

    fn ask_stop(&mut self, panel: &Panel) {
        let frame = panel.shown();
        let script = panel.selected().and_then(|id| frame?.script(id));
        if let Some(script) = script {
            self.ask = Some(Ask::Stop(script.id()));
            self.message = Some(format!("Stop {} ({})? y / n", script.name(), script.id()));
        }
    }
}

/// All kinds, then each kind that any script has.
fn next_kind(panel: &mut Panel) {
    let Some(frame) = panel.shown() else { return };
    let present: Vec<Kind> = Kind::ALL
        .into_iter()
        .filter(|kind| frame.count(*kind) > 0)
        .collect();
    let now = panel.filter().kinds.first().copied();
    let next = match now {
        None => present.first(),
        Some(now) => present.iter().find(|kind| **kind > now),
    };
    panel.filter_mut().kinds = next.copied().into_iter().collect();
}

fn pause_script(panel: &mut Panel) {
    let frame = panel.shown();
    let script = panel.selected().and_then(|id| frame?.script(id));
    let Some((id, kind)) = script.map(|script| (script.id(), script.kind())) else {
        return;
    };
    if kind == Kind::Paused {
        panel.resume(id);
    } else {
        panel.pause(id);
    }
}
