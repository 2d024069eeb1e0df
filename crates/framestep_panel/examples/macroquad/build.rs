//! egui-miniquad opens links with functions that its page provides, and does not say that they are
//! imports.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        println!("cargo::rustc-link-arg-bins=--allow-undefined");
    }
}
