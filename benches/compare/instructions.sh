#!/bin/sh
# Instructions per item, of each system alone: times are noisy, these are not.
# What a run of 2n steps needs more than one of n, divided by the items it did
# more, so that set-up and tear-down cancel out. Needs valgrind.
#
#     ./instructions.sh [SYSTEM...]
#
# NO_FRAMESTEP=1 builds the peers only.
set -eu
cd "$(dirname "$0")"
systems=${*:-bare tokio framestep}

cargo build --release --quiet ${NO_FRAMESTEP:+--no-default-features}
compare=${CARGO_TARGET_DIR:-target}/release/compare
counts=$(mktemp -d)
trap 'rm -rf "$counts"' EXIT

# count WORKLOAD SIZE SYSTEM STEPS: prints the items and the instructions.
count() {
    if ! valgrind --tool=callgrind --callgrind-out-file="$counts/out" \
        "$compare" --count "$@" >"$counts/items" 2>"$counts/log"; then
        grep -v '^==' "$counts/log" >&2
        return 1
    fi
    echo "$(cat "$counts/items") $(sed -n 's/^summary: *//p; s/^totals: *//p' "$counts/out" | head -n 1)"
}

# row WORKLOAD ITEM SIZE STEPS
row() {
    for system in $systems; do
        # Not every system has a notion of everything.
        few=$(count "$1" "$3" "$system" "$4") || continue
        many=$(count "$1" "$3" "$system" $(($4 * 2)))
        echo "$1 $2 $3 $system $few $many" | awk '{
            printf "%-8s %6d  %-15s %10.1f per %s\n", $1, $3, $4, ($8 - $6) / ($7 - $5), $2
        }'
    done
}

printf '%-8s %6s  %-15s %10s\n' workload size system instr.
row W1 resume 10000 30
row W2 fire 10000 512
row W3 spawn 1000 30
row W4a join 1000 30
