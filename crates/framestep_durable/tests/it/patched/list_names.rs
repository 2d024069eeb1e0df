//! Which list a name stands for that a loop goes over.

use super::{builds, loads, talks};

/// A list of the world, of which the code says nothing.
fn of_world() -> Vec<&'static str> {
    vec!["x", "y", "z"]
}

#[test]
fn a_name_that_a_pattern_gives_is_not_the_list_of_that_name() {
    /// A loop over other `texts` than those of the first line, to which one is added.
    macro_rules! hidden {
        ($($head:tt)*) => {
            builds!({
                let texts = ["a"];
                say(texts[0]);
                $($head)*
            } => {
                let texts = ["new", "a"];
                say(texts[1]);
                $($head)*
            })
        };
    }
    let hidden = [
        hidden! {
            let (texts, _) = (crate::patched::list_names::of_world(), 1);
            for text in texts {
                line(text).await;
            }
        },
        hidden! {
            if let Some(texts) = Some(crate::patched::list_names::of_world()) {
                for text in texts {
                    line(text).await;
                }
            }
        },
        hidden! {
            for texts in [crate::patched::list_names::of_world()] {
                for text in texts {
                    line(text).await;
                }
            }
        },
    ];
    for builds in &hidden {
        loads(builds).are_right();
    }
}

#[test]
fn a_field_is_looked_up_only_in_a_constant_itself() {
    macro_rules! scenes {
        ([$($text:literal)*] => [$($new:literal)*] $body:tt) => {
            talks!({
                struct Scene { lines: &'static [&'static str] }
                const INN: Scene = Scene { lines: &[$($text),*] };
                const SCENES: &[Scene] = &[INN];
                #[durable]
                pub async fn talk() $body
            } => {
                struct Scene { lines: &'static [&'static str] }
                const INN: Scene = Scene { lines: &[$($new),*] };
                const SCENES: &[Scene] = &[INN];
                #[durable]
                pub async fn talk() $body
            })
        };
    }
    let builds = scenes!(["a" "b"] => ["a" "new" "b"] {
        let scene = &INN;
        for text in scene.lines {
            line(text).await;
        }
        // Which one it is, only the script knows.
        let number = usize::from(is_stop_requested());
        for text in SCENES.get(number).unwrap().lines {
            say(*text);
        }
        let scene = SCENES.first().unwrap();
        for text in scene.lines {
            say(*text);
        }
    });
    loads(&builds).are_right();
}

#[test]
fn of_a_long_list_no_more_items_are_printed_than_can_be_told() {
    use std::fmt;
    use std::sync::atomic::{AtomicU32, Ordering};

    use framestep_durable::prelude::*;

    static PRINTED: AtomicU32 = AtomicU32::new(0);
    struct Pixel;
    impl fmt::Debug for Pixel {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            PRINTED.fetch_add(1, Ordering::Relaxed);
            f.write_str("pixel")
        }
    }
    static PIXELS: [Pixel; 100_000] = [const { Pixel }; 100_000];
    #[durable]
    async fn draws() {
        for pixel in &PIXELS {
            let Pixel = pixel;
            wait_seconds(1).await;
        }
    }

    let _ = Registry::new().script(draws);
    assert!(PRINTED.load(Ordering::Relaxed) <= 1_001);
}
