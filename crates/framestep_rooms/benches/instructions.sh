#!/bin/sh
# Instructions of the parts of a room: its frame, hash, save, view and load, and a node with all of
# them. Without network and clock, so that they repeat. Needs valgrind.
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
binary=$(built_bench .. --no-default-features --features simulate)

rows() {
    count_rows "$binary" ${*:-frame hash save view node load}
}

print_or_compare 'Rooms' crates/framestep_rooms/benches/instructions.sh "$@"
