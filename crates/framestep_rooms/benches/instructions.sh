#!/bin/sh
# Instructions of the parts of a room: its frame, hash, save, view and load, and a node with all of
# them. Without network and clock, so that they repeat. Needs valgrind.
#
#     ./instructions.sh [ROW...]    prints the counts
set -eu
cd "$(dirname "$0")/.."
. ../../scripts/lib/instructions.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
binary=$(built_bench . --no-default-features --features simulate)
count_rows "$binary" ${*:-frame hash save view node load}
