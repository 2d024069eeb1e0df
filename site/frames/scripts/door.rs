async fn open_door() -> u32 {
    println!("the door creaks");
    animate(1.5, set_door).await;
    println!("the door is open");
    3 // coins behind it
}

fn set_door(part: f32) {
    with(|w: &mut World| w.door = part);
}

fn walk(part: f32) {
    with(|w: &mut World| w.hero = 8.5 * part);
}

async fn game() {
    animate(1, walk).await;
    println!("the hero knocks");
    let coins = start(open_door()).await.unwrap();
    println!("the hero takes {coins} coins");
    with(|w: &mut World| w.coins += coins);
}
