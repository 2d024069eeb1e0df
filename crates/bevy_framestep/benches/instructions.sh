#!/bin/sh
# Instructions of an update of a Bevy app, and of a script in it: times are noisy, these are not. Needs
# valgrind.
#
#     ./instructions.sh [ROW...]    prints the counts
#     ./instructions.sh --check     fails if one is above what instructions.txt says, or if a function
#                                   that is marked as cold is called as often as there are scripts
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
binary=$(built_bench .. --ignore-rust-version)
cold_functions ../../../src ../src >"$work/cold"
touch "$work/scaling"

rows() {
    for row in ${*:-bevy-alone empty sleep next_frame move condition resource changing component change no-message message event spawn}; do
        count_rows "$binary" "$row" || return 1
        # Each script of this row is started and stopped, which is rare elsewhere.
        [ "$row" = spawn ] && continue
        cold_calls "$(cut -d' ' -f1 "$work/items")" <"$work/cold" | sed "s/^/$row: /" >>"$work/scaling"
    done
}

print_or_compare 'Scripts in Bevy' crates/bevy_framestep/benches/instructions.sh "$@"
case $mode in
print) cat "$work/scaling" ;;
check)
    if [ -s "$work/scaling" ]; then
        echo "These functions are marked as cold, and are called as often as there are scripts:"
        cat "$work/scaling"
        exit 1
    fi
    ;;
esac
