//! Notes the compiler, and builds the peer in C++ where there is one for that.

fn main() {
    let compiler = std::env::var("RUSTC").expect("cargo tells");
    let version = std::process::Command::new(compiler)
        .arg("--version")
        .output();
    let version = version.map_or(Vec::new(), |output| output.stdout);
    let version = String::from_utf8_lossy(&version);
    println!("cargo::rustc-env=COMPILER={}", version.trim());

    println!("cargo::rustc-check-cfg=cfg(cpp)");
    println!("cargo::rerun-if-changed=cpp/coroutines.cpp");
    let built = cc::Build::new()
        .cpp(true)
        .std("c++20")
        .opt_level(2)
        .file("cpp/coroutines.cpp")
        .cargo_warnings(false)
        .try_compile("coroutines");
    match built {
        Ok(()) => println!("cargo::rustc-cfg=cpp"),
        Err(problem) => {
            let problem = problem.to_string();
            let first = problem.lines().next().unwrap_or_default();
            println!("cargo::warning=without C++20 coroutines: {first}");
        }
    }
}
