#!/bin/sh
# Instructions per item, of each system alone: times are noisy, these are not.
# What a run of 2n steps needs more than one of n, divided by the items it did
# more, so that set-up and tear-down cancel out. Needs valgrind.
#
#     ./instructions.sh [SYSTEM...]    prints the counts
#     ./instructions.sh --check        fails if framestep needs more than
#                                      instructions.txt says
#     ./instructions.sh --update       writes the counts of now to that file
#
# A count may be 4 % above its baseline. Another compiler makes other code, so
# with another rustc than the file names, that is a warning and 15 % fails.
#
# The code of the bench counts, too: how much of the crate is inlined into it
# depends on what else calls the same functions. Update after changing it.
#
# framestep-join-all is framestep with its own join_all, and only has W8.
#
# NO_FRAMESTEP=1 builds the peers only. bevy-malek-async builds a part of Bevy.
set -eu
cd "$(dirname "$0")"
baseline=instructions.txt

mode=print
case ${1:-} in
--check | --update)
    mode=${1#--}
    shift
    if [ $# -gt 0 ]; then
        echo "--$mode is about framestep and takes no systems" >&2
        exit 2
    fi
    systems=framestep
    ;;
-*)
    sed -n 's/^#     //p' "$0" >&2
    exit 2
    ;;
*) systems=${*:-bare tokio framestep} ;;
esac

case " $systems " in
*" bevy-malek-async "*) bevy=1 ;;
esac
cargo build --release --quiet ${NO_FRAMESTEP:+--no-default-features} ${bevy:+--features bevy}
compare=${CARGO_TARGET_DIR:-target}/release/compare
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# count WORKLOAD SIZE SYSTEM STEPS: prints the items and the instructions.
count() {
    if ! valgrind --tool=callgrind --callgrind-out-file="$work/out" \
        "$compare" --count "$@" >"$work/items" 2>"$work/log"; then
        grep -v '^==' "$work/log" >&2
        return 1
    fi
    echo "$(cat "$work/items") $(sed -n 's/^summary: *//p; s/^totals: *//p' "$work/out" | head -n 1)"
}

# row WORKLOAD ITEM SIZE STEPS [SYSTEM...]
row() {
    workload=$1 item=$2 size=$3 steps=$4
    shift 4
    for system in ${*:-$systems}; do
        # Not every system has a notion of everything; framestep has.
        if ! few=$(count "$workload" "$size" "$system" "$steps"); then
            [ $mode = print ] && continue
            exit 1
        fi
        many=$(count "$workload" "$size" "$system" $((steps * 2)))
        echo "$workload $item $size $system $few $many" | awk '{
            printf "%-8s %6d  %-18s %10.1f per %s\n", $1, $3, $4, ($8 - $6) / ($7 - $5), $2
        }'
    done
}

rows() {
    printf '%-8s %6s  %-18s %10s\n' workload size system instr.
    row W1 resume 10000 30
    row W1c resume 10000 30
    row W2 fire 10000 512
    row W2-idle frame 1000 512
    row W3 spawn 1000 30
    row W4a join 1000 30
    row W5 resume 10000 30
    row W7 wake 100 30
    row W8 wait 100 30
    # The same with the join_all of the crate.
    case " $systems " in
    *" framestep "*) row W8 wait 100 30 framestep-join-all ;;
    esac
}

compiler=$(rustc --version)
case $mode in
print) rows ;;
update)
    # Complete or not at all: the old file stays if a row fails.
    {
        echo "# Written by ./instructions.sh --update, with $compiler"
        rows
    } >"$work/baseline"
    cp "$work/baseline" "$baseline"
    cat "$baseline"
    ;;
check)
    rows >"$work/now"
    same=1
    if ! grep -qF "with $compiler" "$baseline"; then
        same=0
        echo "warning: $baseline is of another compiler ($(sed -n '1s/.*with //p' "$baseline"), here $compiler)"
    fi
    awk -v same=$same '
        # The first file is the baseline, the second what was counted now.
        /^#/ || $1 == "workload" { next }
        FNR == NR { old[$1, $2, $3] = $4; names[$1, $2, $3] = $1 " " $2 " " $3; next }
        {
            if (!(($1, $2, $3) in old)) {
                printf "%-8s %6d  %-18s not in the baseline\n", $1, $2, $3
                failed = 1
                next
            }
            more = $4 / old[$1, $2, $3] - 1
            verdict = more <= 0.04 ? "ok" : more <= 0.15 && !same ? "warning" : "FAILED"
            if (verdict == "FAILED") failed = 1
            if (more < -0.04) verdict = "ok, lower the baseline"
            printf "%-8s %6d  %-18s baseline %8.1f  now %8.1f  %+6.1f %%  %s\n", \
                $1, $2, $3, old[$1, $2, $3], $4, more * 100, verdict
            delete names[$1, $2, $3]
        }
        END {
            for (name in names) {
                print names[name] ": in the baseline, but not counted"
                failed = 1
            }
            exit failed
        }' "$baseline" "$work/now" || {
        echo "framestep needs more instructions than $baseline allows. Make it fewer, or, if the"
        echo "price is worth paying, run benches/compare/instructions.sh --update and commit the file."
        exit 1
    }
    ;;
esac
