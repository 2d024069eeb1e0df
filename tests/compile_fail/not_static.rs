//! A coroutine may outlive the caller, and so cannot borrow from it.

use framestep::Executor;

fn main() {
    let executor = Executor::new();
    let name = String::from("door");
    executor.spawn(async {
        println!("{name}");
    });
}
