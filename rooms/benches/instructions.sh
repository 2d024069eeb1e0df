#!/bin/sh
# Instructions of the parts of a room: its frame, hash, save, view and load, and a node with all of
# them. Without network and clock, so that they repeat. Needs valgrind.
#
#     ./instructions.sh [ROW...]    prints the counts
set -eu
cd "$(dirname "$0")/.."

# One codegen unit: inlining within a crate then does not depend on how the compiler split it.
export CARGO_PROFILE_BENCH_CODEGEN_UNITS=1
built=$(cargo bench --no-default-features --features simulate --bench instructions --no-run 2>&1) || {
    echo "$built" >&2
    exit 1
}
binary=$(realpath "$(echo "$built" | sed -n 's/^ *Executable .*(\(.*\))$/\1/p')")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for row in ${*:-frame hash save view node load}; do
    if ! valgrind --tool=callgrind --callgrind-out-file="$work/out" --collect-atstart=no \
        --toggle-collect='*instructions::counted*' "$binary" "$row" >"$work/items" 2>"$work/log"; then
        grep -v '^==' "$work/log" >&2
        exit 1
    fi
    counted=$(sed -n 's/^summary: *//p; s/^totals: *//p' "$work/out" | head -n 1)
    echo "$row $counted $(cat "$work/items")" | awk '{
        unit = $4
        for (word = 5; word <= NF; word++) unit = unit " " $word
        printf "%-8s %10.1f per %s\n", $1, $2 / $3, unit
    }'
done
