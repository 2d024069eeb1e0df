// A frame is a sequence of phases. A fixed step is 0.02 s long: a frame of 0.25 s has twelve or
// thirteen of them.

async fn physics() {
    for _ in 0..100 {
        fixed_update().await;
        with(|w: &mut World| w.hero += 0.1);
    }
}

async fn control() {
    loop {
        next_frame().await;
        println!("update");
    }
}

async fn camera() {
    loop {
        next_frame().in_phase(Phase::LateUpdate).await;
        println!("camera, after all updates");
    }
}

async fn game() {
    let camera = start(camera());
    let control = start(control());
    start(physics()).await.unwrap();
    end_of_frame().await;
    println!("the end of the frame");
    camera.stop();
    control.stop();
}
