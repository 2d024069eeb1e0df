//! Plays by itself, changes the scripts as a user of the game would, and takes pictures of the same
//! moment before and after; and, in the folder `moving`, of the loop with each version of the code.

use std::fs;
use std::path::{Path, PathBuf};

use framestep_live::Status;
use macroquad::prelude::*;
use toy_world::World;

use crate::game::{Game, pilot};
use crate::show;
use crate::stage::{LOOP, Stage};

/// The moment of the loop that is in the pictures.
const MOMENT: usize = 100;

/// Frames of the game from one picture of the loop to the next.
const EVERY: usize = 5;

/// A source that is written back at the end.
struct Source {
    path: PathBuf,
    text: String,
}

impl Source {
    fn open(path: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let text = fs::read_to_string(&path).expect("the source is there");
        Source { path, text }
    }

    /// Saves it with another text for a part of it.
    fn save(&self, from: &str, to: &str) {
        assert!(
            self.text.contains(from),
            "{} has no {from:?}",
            self.path.display()
        );
        self.write(&self.text.replace(from, to));
    }

    fn write(&self, text: &str) {
        fs::write(&self.path, text).expect("the source can be written");
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        let _ = fs::write(&self.path, &self.text);
    }
}

pub(crate) async fn play(folder: PathBuf) {
    fs::create_dir_all(&folder).expect("the folder can be made");
    crate::draw::prepare();
    let mut film = Film {
        game: Game::new(),
        stage: Stage::new(600),
        folder,
        moving: 0,
    };
    fs::create_dir_all(film.folder.join("moving")).expect("the folder can be made");
    let scripts = Source::open("scripts/src/lib.rs");
    // Until it watches, and the first build has found nothing new.
    film.wait(|stage| matches!(stage.live.status(), Status::Watches { .. }))
        .await;
    film.wait(|stage| stage.live.building().is_some()).await;
    film.wait(|stage| stage.live.building().is_none()).await;
    while film.game.runtime.time().frame < 230 {
        film.frame().await;
    }
    film.stage.history.begin_loop(LOOP);
    let before = film.picture("1-before").await;
    film.turn().await;
    scripts.save("let arms = 3_u8", "let arms = 5_u8");
    film.exchanged().await;
    let five_arms = film.picture("2-five-arms").await;
    film.turn().await;
    assert!(five_arms.bullets.len() > before.bullets.len());
    scripts.save(
        "let arms = 3_u8; // change this line first: 5\n            let speed = 150.0;",
        "let arms = 4_u8;\n            let speed = 150.0 + 60.0 * f32::from(shot % 2);",
    );
    film.exchanged().await;
    let two_speeds = film.picture("3-two-speeds").await;
    film.turn().await;
    assert!(two_speeds != five_arms);
    scripts.save("let speed = 150.0", "let speed = \"fast\"");
    film.wait(|stage| matches!(stage.live.status(), Status::Failed { .. }))
        .await;
    let with_error = film.picture("4-error").await;
    film.turn().await;
    assert!(with_error == two_speeds, "the earlier code goes on");
    scripts.write(&scripts.text);
    film.exchanged().await;
    let mended = film.picture("5-mended").await;
    assert!(mended == before, "the same code leads to the same moment");
}

struct Film {
    game: Game,
    stage: Stage,
    folder: PathBuf,
    /// Pictures of the loop so far.
    moving: u32,
}

impl Film {
    async fn frame(&mut self) {
        self.stage.update(&mut self.game);
        let push = pilot(self.game.runtime.time().frame, &self.game.world);
        self.stage.step(&mut self.game, push);
        show(&mut self.stage, &mut self.game).await;
    }

    async fn wait(&mut self, is_so: impl Fn(&Stage) -> bool) {
        while !is_so(&self.stage) {
            // Time stands still.
            self.stage.update(&mut self.game);
            show(&mut self.stage, &mut self.game).await;
        }
    }

    /// Plays until the code has been exchanged.
    async fn exchanged(&mut self) {
        loop {
            if self.stage.update(&mut self.game) {
                println!("{}", self.stage.live.status());
                return;
            }
            let push = pilot(self.game.runtime.time().frame, &self.game.world);
            self.stage.step(&mut self.game, push);
            show(&mut self.stage, &mut self.game).await;
        }
    }

    /// Takes pictures of the whole loop.
    async fn turn(&mut self) {
        for _ in 0..LOOP {
            self.frame().await;
            let at = self.stage.history.in_loop().map_or(0, |(at, _)| at);
            if at % EVERY == 0 {
                self.save(&format!("moving/{:03}", self.moving));
                self.moving += 1;
                show(&mut self.stage, &mut self.game).await;
            }
        }
    }

    /// Saves a picture of this frame.
    fn save(&mut self, name: &str) {
        crate::draw::draw(&self.game);
        self.stage.draw(&mut self.game);
        let mut picture = get_screen_data();
        for [.., alpha] in picture.get_image_data_mut() {
            *alpha = u8::MAX;
        }
        let file = self.folder.join(name).with_extension("png");
        picture.export_png(&file.to_string_lossy());
    }

    /// Takes a picture of the moment. Returns its world.
    async fn picture(&mut self, name: &str) -> World {
        while self.stage.history.in_loop().map(|(at, _)| at) != Some(MOMENT) {
            self.frame().await;
        }
        self.save(name);
        let world = self.game.world.clone();
        show(&mut self.stage, &mut self.game).await;
        world
    }
}
