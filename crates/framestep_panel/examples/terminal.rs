//! The panel in a terminal.
//!
//! ```sh
//! cargo run --features terminal --example terminal                       # a small scene
//! cargo run --features terminal --example terminal -- --hunt             # five planted faults
//! cargo run --features terminal --example terminal -- --scripts 10000
//! cargo run --features terminal --example terminal -- --snapshot 120 30  # one picture, as text
//! ```
//!
//! `--light` uses colours for a light background, `--frames N` runs N frames before the
//! first picture. `q` or Escape ends it.

mod scene;

use std::error::Error;
use std::io::Write as _;
use std::time::{Duration, Instant};

use framestep_panel::Panel;
use framestep_panel::terminal::View;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{self, Event, KeyCode};

use scene::Scene;

const DT: f32 = 1.0 / 60.0;

struct Options {
    hunt: bool,
    light: bool,
    scripts: usize,
    frames: u32,
    snapshot: Option<(u16, u16)>,
}

impl Options {
    fn read() -> Result<Self, Box<dyn Error>> {
        let mut options = Options {
            hunt: false,
            light: false,
            scripts: 10,
            frames: 0,
            snapshot: None,
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut number = || words.next().ok_or(format!("{word} takes a number"));
            match word.as_str() {
                "--hunt" => options.hunt = true,
                "--light" => options.light = true,
                "--scripts" => options.scripts = number()?.parse()?,
                "--frames" => options.frames = number()?.parse()?,
                "--snapshot" => options.snapshot = Some((number()?.parse()?, number()?.parse()?)),
                _ => return Err(format!("unknown: {word}; see the top of terminal.rs").into()),
            }
        }
        Ok(options)
    }

    fn scene(&self, panel: &mut Panel) -> Scene {
        let scene = if self.hunt {
            Scene::hunt()
        } else {
            Scene::lively(self.scripts)
        };
        panel.listen(&scene.executor);
        scene
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read()?;
    let mut panel = Panel::new();
    panel.open();
    panel.offer_restart();
    let mut scene = options.scene(&mut panel);
    let mut view = View::new().dark(!options.light).closes_on("q esc");
    for _ in 0..options.frames {
        step(&mut panel, &mut scene);
    }
    if let Some((width, height)) = options.snapshot {
        if options.frames == 0 {
            (0..300).for_each(|_| step(&mut panel, &mut scene));
        }
        let mut terminal = Terminal::new(TestBackend::new(width, height))?;
        terminal.draw(|frame| view.draw(frame, &mut panel))?;
        for line in terminal.backend().to_string().lines() {
            println!("{}", line.trim_matches('"').trim_end());
        }
        return Ok(());
    }
    let mut terminal = ratatui::init();
    let result = play(&options, &mut panel, &mut scene, &mut view, &mut terminal);
    ratatui::restore();
    result
}

fn step(panel: &mut Panel, scene: &mut Scene) {
    if let Some(dt) = panel.dt(DT) {
        scene.run(dt);
    }
    panel.look(&scene.executor);
}

fn play(
    options: &Options,
    panel: &mut Panel,
    scene: &mut Scene,
    view: &mut View,
    terminal: &mut ratatui::DefaultTerminal,
) -> Result<(), Box<dyn Error>> {
    loop {
        let began = Instant::now();
        if panel.take_restart() {
            *scene = options.scene(panel);
        }
        step(panel, scene);
        terminal.draw(|frame| view.draw(frame, panel))?;
        loop {
            let left = Duration::from_secs_f32(DT).saturating_sub(began.elapsed());
            if !event::poll(left)? {
                break;
            }
            if let Event::Key(key) = event::read()? {
                let is_known = view.key(key, panel);
                if !is_known && matches!(key.code, KeyCode::Char('q') | KeyCode::Esc) {
                    return Ok(());
                }
            }
            if let Some(text) = view.take_copied() {
                // Terminals copy what follows OSC 52.
                print!("\x1b]52;c;{}\x07", base64(text.as_bytes()));
                std::io::stdout().flush()?;
            }
        }
    }
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for part in bytes.chunks(3) {
        let bits = part
            .iter()
            .fold(0, |bits, byte| bits << 8 | u32::from(*byte))
            << (8 * (3 - part.len()));
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at)) as usize & 63];
            out.push(if at <= part.len() {
                char::from(letter)
            } else {
                '='
            });
        }
    }
    out
}
