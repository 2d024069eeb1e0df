//! What is added to a scene implements `Behaviour`.

use framestep::scene::Scene;

struct Door;

fn main() {
    Scene::new().add(Door);
}
