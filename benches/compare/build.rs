//! Builds the peer in C++, where there is a compiler for it.

fn main() {
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
