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

mode=$(mode_of "$@")
[ "$mode" = print ] || shift

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
binary=$(built_bench ..)

rows() {
    count_rows "$binary" ${*:-plain plain-start start next_frame with wait_seconds save tick-2 tick-52 tick-239 room-2 room-52 room-239 load}
}

print_or_compare 'Durable scripts' crates/framestep_durable/benches/instructions.sh "$@"
