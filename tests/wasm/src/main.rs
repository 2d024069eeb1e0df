//! Prints the trace.

fn main() {
    print!("{}", framestep_wasm::trace());
}
