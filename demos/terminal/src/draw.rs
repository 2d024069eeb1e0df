//! Shows the world.

use crate::boss::Boss;
use crate::menu::ITEMS;
use crate::screen::{Colour, Screen, WIDTH};
use crate::word::Word;
use crate::world::{Banner, GROUND, LIVES, Menu, Sparks, World};

const FACE: [&str; 5] = [
    "  .-------.  ",
    " /  o   o  \\ ",
    "|     ^     |",
    " \\  =====  / ",
    "  '-------'  ",
];

pub(crate) fn draw(screen: &mut Screen, world: &World, frame: u64) {
    status(screen, world, frame);
    for sparks in &world.sparks {
        self::sparks(screen, sparks);
    }
    for word in &world.words {
        self::word(screen, word, world.target == Some(word.id));
    }
    if let Some(boss) = &world.boss {
        self::boss(screen, boss);
    }
    if let Some(banner) = &world.banner {
        self::banner(screen, banner);
    }
    if let Some(menu) = &world.menu {
        self::menu(screen, menu);
    }
}

fn status(screen: &mut Screen, world: &World, frame: u64) {
    let line = "─".repeat(WIDTH);
    let ground = if world.is_hurt {
        Colour::Bad
    } else {
        Colour::Faint
    };
    screen.write(0, 1, &line, Colour::Faint);
    screen.write(0, GROUND, &line, ground);

    screen.write(1, 0, "LETTERFALL", Colour::Bright);
    let wave = world.wave.get();
    if wave > 0 {
        screen.write(16, 0, &format!("wave {wave}"), Colour::Plain);
    }
    screen.write(28, 0, &format!("score {}", world.score), Colour::Plain);
    let lives = world.lives.get();
    screen.write(44, 0, "lives", Colour::Plain);
    screen.write(50, 0, &"·".repeat(LIVES), Colour::Faint);
    screen.write(50, 0, &"♥".repeat(lives), Colour::Bad);
    let frames = format!("{frame} frames");
    screen.write(WIDTH - 1 - frames.len(), 0, &frames, Colour::Faint);
    screen.write(
        1,
        GROUND + 2,
        "escape: the menu    control-c: leave",
        Colour::Faint,
    );
}

fn word(screen: &mut Screen, word: &Word, is_target: bool) {
    let colour = if word.y + 5 > GROUND {
        Colour::Bad
    } else if is_target {
        Colour::Bright
    } else {
        Colour::Plain
    };
    screen.write(word.x, word.y, word.text, colour);
    screen.write(word.x, word.y, &word.text[..word.typed], Colour::Typed);
}

fn sparks(screen: &mut Screen, sparks: &Sparks) {
    let texture = ["*", "+", "·", " "][sparks.age.min(3)];
    let text = texture.repeat(sparks.width + 2 * sparks.age);
    let x = sparks.x.saturating_sub(sparks.age);
    screen.write(x, sparks.y, &text, Colour::Typed);
}

fn boss(screen: &mut Screen, boss: &Boss) {
    let colour = if boss.is_angry {
        Colour::Bad
    } else {
        Colour::Bright
    };
    let x = (WIDTH / 2 - 6).saturating_add_signed(isize::from(boss.sway) * 3);
    for (row, text) in FACE.iter().enumerate() {
        screen.write(x, 4 + row, text, colour);
    }
    let x = WIDTH.saturating_sub(boss.sentence.len()) / 2;
    screen.write(x, 12, boss.sentence, Colour::Plain);
    screen.write(x, 12, &boss.sentence[..boss.typed], Colour::Typed);
    let left = usize::try_from(boss.seconds).unwrap_or(0);
    screen.centre(14, &"■".repeat(2 * left), Colour::Bad);
}

fn banner(screen: &mut Screen, banner: &Banner) {
    let title = spaced(&banner.title);
    let width = title.len().max(banner.text.len()) + 6;
    let x = (WIDTH - width) / 2;
    screen.frame(x, 8, width, 6);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a share of some letters"
    )]
    let shown = (title.len() as f32 * banner.shown) as usize;
    let x = (WIDTH - title.len()) / 2;
    screen.write(x, 10, &title[..shown.min(title.len())], Colour::Good);
    screen.centre(11, &banner.text, Colour::Plain);
}

fn spaced(text: &str) -> String {
    let letters: Vec<String> = text.chars().map(String::from).collect();
    letters.join(" ")
}

fn menu(screen: &mut Screen, menu: &Menu) {
    let width = 24;
    let x = (WIDTH - width) / 2;
    screen.frame(x, 8, width, ITEMS.len() + 4);
    screen.centre(8, " paused ", Colour::Bright);
    for (index, item) in ITEMS.iter().enumerate() {
        let (mark, colour) = if index == menu.chosen {
            ("> ", Colour::Good)
        } else {
            ("  ", Colour::Plain)
        };
        screen.write(x + 6, 10 + index, &format!("{mark}{item}"), colour);
    }
}
