//! The main script, which starts all others.

use std::error::Error;
use std::rc::Rc;

use framestep::prelude::*;
use futures::channel::mpsc;

use crate::countdown::{End, countdown};
use crate::door::Door;
use crate::hero::Hero;
use crate::level::Loader;
use crate::stage::say;
use crate::{cutscene, enemy, patrol};

pub(crate) async fn play(loader: Rc<Loader>) -> Result<(), Box<dyn Error>> {
    // The file loads while the cutscene plays.
    let level = start(async move { loader.load("level.txt").await });
    start(cutscene::intro()).await??;
    let level = level.await??;

    // The guard's script never returns: it is stopped when the scene ends.
    let _guard = start(patrol::walk(level.posts)).stop_on_drop();

    let hero = Rc::new(Hero::new());
    let door = Rc::new(Door::new(1.0, level.door_seconds));
    let door_script = start(door.clone().let_through(hero.clone()));
    hero.walk_to(door.x).await;
    wait_until(|| door.is_open()).await;
    hero.walk_to(door.x + 2.0).await;

    // The crow takes the handle, to join the ogre. The id is enough to stop it.
    let ogre = start(enemy::ogre());
    let ogre_id = ogre.id();
    let crow = start(enemy::crow(ogre));
    let (wire, wire_cut) = mpsc::unbounded();
    let bomb = start(countdown(level.fuse_seconds, wire_cut));

    wait_seconds(1.75).await;
    say("hero", "strikes");
    stop(ogre_id);
    crow.await?;

    hero.walk_to(7.0).await;
    say("hero", "cuts the wire");
    wire.unbounded_send(())?;
    match bomb.await? {
        End::Cut => say("hero", "breathes again"),
        End::RanOut => say("hero", "was too late"),
    }

    door_script.await?;
    end_of_frame().await;
    let frame = time().frame;
    say("camera", &format!("takes a picture of frame {frame}"));
    Ok(())
}
