#!/bin/sh
# Instructions of durable waits, save states, rollbacks and checksums: times are noisy, these are
# not. Needs valgrind.
#
#     ./instructions.sh [ROW...]    prints the counts
#     ./instructions.sh --check     fails if one is above what instructions.txt says
#     ./instructions.sh --update    writes the counts of now to that file
#
# A count may be 4 % above its baseline. Another compiler makes other code, so with another rustc
# than the file names, that is a warning and 15 % fails.
set -eu
cd "$(dirname "$0")"
. ../../../scripts/lib/instructions.sh
baseline=instructions.txt

mode=print
case ${1:-} in
--check | --update)
    mode=${1#--}
    shift
    ;;
-*)
    sed -n 's/^#     //p' "$0" >&2
    exit 2
    ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
binary=$(built_bench ..)

rows() {
    count_rows "$binary" ${*:-plain plain-start start next_frame with wait_seconds save tick-2 tick-52 tick-239 room-2 room-52 room-239 load}
}

compiler=$(rustc --version)
case $mode in
print) rows "$@" ;;
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
    check_rows "$compiler" || {
        echo "Durable scripts need more instructions than $baseline allows. Make it fewer, or, if the price is"
        echo "worth paying, run crates/framestep_durable/benches/instructions.sh --update and commit the file."
        exit 1
    }
    ;;
esac
