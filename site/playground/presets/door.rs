async fn open_door() -> i64 {
    println!("the door creaks");
    animate(1.5, |part| with(|w: &mut World| w.door = part)).await;
    println!("the door is open");
    3 // coins behind it
}

async fn game() {
    println!("the hero knocks");
    next_frame().await;
    let coins = start(open_door()).await.unwrap();
    with(|w: &mut World| w.coins += coins);
    println!("the hero takes {coins} coins");
}
