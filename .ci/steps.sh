# Sourced by .ci/check and .ci/run, from the top of the repository.
export CARGO_TERM_COLOR=never
# One for all workspaces: what several need is built once.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}

step() {
    printf '\n== %s (%ss)\n' "$1" "$SECONDS"
}

format() {
    step 'format'
    cargo fmt --all --check
    cargo fmt --check --manifest-path benches/compare/Cargo.toml
}
