# Sourced by the scripts that count the instructions of a bench with the rows of
# `benches/instructions.rs`. They set `work`, an empty folder.

# built_bench FOLDER [OPTION...]: builds the bench in a package, and prints its path.
built_bench() {
    (
        cd "$1"
        shift
        # One codegen unit: inlining within a crate then does not depend on how the compiler split it.
        built=$(CARGO_PROFILE_BENCH_CODEGEN_UNITS=1 cargo bench --bench instructions --no-run "$@" 2>&1) || {
            echo "$built" >&2
            exit 1
        }
        # Cargo prints it from the root of the workspace.
        cd "$(dirname "$(cargo locate-project --workspace --message-format plain)")"
        realpath "$(echo "$built" | sed -n 's/^ *Executable .*(\(.*\))$/\1/p')"
    )
}

# count_rows BINARY ROW...: prints what each row counts.
count_rows() {
    binary=$1
    shift
    for row; do
        if ! valgrind --tool=callgrind --callgrind-out-file="$work/out" --collect-atstart=no \
            --toggle-collect='*instructions::counted*' "$binary" "$row" >"$work/items" 2>"$work/log"; then
            grep -v '^==' "$work/log" >&2
            return 1
        fi
        counted=$(sed -n 's/^summary: *//p; s/^totals: *//p' "$work/out" | head -n 1)
        echo "$row $counted $(cat "$work/items")" | awk '{
            unit = $4
            for (word = 5; word <= NF; word++) unit = unit " " $word
            printf "%-12s %12.1f per %s\n", $1, $2 / $3, unit
        }'
    done
}
