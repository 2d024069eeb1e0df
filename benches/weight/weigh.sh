#!/usr/bin/env bash
# What a hundred plain scripts (src/lib.rs), and a hundred durable ones that do the same
# (durable/src/lib.rs), weigh: the bytes of machine code that the compiler makes of them, and
# the seconds of CPU that it takes. Much of it is the generic code of framestep, of which each
# script has its own copies.
#
#     ./weigh.sh            debug and release; RUNS=5 takes the least of five times
#     ./weigh.sh --symbols  debug, with the functions that weigh most; N and M stand for
#                           the names of a script. PACKAGE=weight_durable: the durable ones
#     ./weigh.sh --check    fails if the debug build has more bytes than weight.txt says
#     ./weigh.sh --update   writes the bytes of now to that file
#
# Bytes repeat exactly, seconds do not. Dependencies are built before and not counted. The
# profiles are those of a new game, `weight` its debug build: without debug information, that has
# 10 % less code.
# Bytes may be 2 % above the file. Another compiler makes other code, so with another rustc
# than the file names, that is a warning and 15 % fails.
set -euo pipefail
cd "$(dirname "$0")"
baseline=weight.txt
export CARGO_INCREMENTAL=0

# build PACKAGE PROFILE: builds the package anew. Its symbols have names with all generic
# arguments.
build() {
    touch src/lib.rs durable/src/lib.rs
    cargo rustc --quiet --locked --lib --package "$1" --profile "$2" -- -C symbol-mangling-version=v0
}

# symbols PACKAGE PROFILE: prints the size and the name of each function that was built.
symbols() {
    nm --print-size --radix=d --demangle "${CARGO_TARGET_DIR:-../../target}/$2/lib$1.rlib" 2>/dev/null |
        awk '$3 ~ /^[tTwW]$/ { size = $2 + 0; sub(/^[0-9]+ [0-9]+ . /, ""); print size, $0 }'
}

# bytes PACKAGE PROFILE: prints bytes by the crate that defines a function.
bytes() {
    symbols "$1" "$2" | awk -v package="$1" '{
        size = $1
        sub(/^[0-9]+ /, "")
        # `<&mut a::B as c::D>::e` is a function of crate `a`.
        while (sub(/^(<|&|\*const |\*mut |mut |dyn |\[|\()/, ""));
        of = /^framestep/ ? "framestep" : /^weight/ ? "scripts" : "others"
        bytes[of] += size
    }
    END {
        kind = package == "weight" ? "plain" : "durable"
        print kind, "all", bytes["framestep"] + bytes["scripts"] + bytes["others"]
        print kind, "framestep", bytes["framestep"] + 0
        print kind, "others", bytes["others"] + 0
        print kind, "scripts", bytes["scripts"] + 0
    }'
}

# weigh PACKAGE PROFILE: prints a row.
weigh() {
    local TIMEFORMAT=%U least='' seconds
    build "$1" "$2"
    for _ in $(seq "${RUNS:-3}"); do
        seconds=$({ time build "$1" "$2"; } 2>&1)
        least=$(printf '%s\n' $least "$seconds" | sort -g | head -n 1)
    done
    bytes "$1" "$2" | awk -v profile="$2" -v seconds="$least" '
        { kilobytes[$2] = $3 / 1000; kind = $1 }
        END {
            printf "%-8s %-8s %8.0f %10.0f %8.0f %8.0f %8.1f\n", kind, profile, kilobytes["all"],
                kilobytes["framestep"], kilobytes["others"], kilobytes["scripts"], seconds
        }'
}

both=(weight weight_durable)
compiler=$(rustc --version)
case ${1:-} in
'')
    echo 'kB of code, by the crate that defines the function; seconds of CPU'
    printf '%-8s %-8s %8s %10s %8s %8s %8s\n' scripts profile all framestep others scripts seconds
    for package in "${both[@]}"; do
        weigh "$package" weight
        weigh "$package" release
    done
    ;;
--symbols)
    package=${PACKAGE:-weight}
    build "$package" weight
    symbols "$package" weight | sed -E "s/$package::[a-z]+::[a-z]+/$package::N::M/g" | awk '{
        size = $1
        sub(/^[0-9]+ /, "")
        bytes[$0] += size
        count[$0]++
    }
    END { for (name in bytes) printf "%9d %5d  %s\n", bytes[name], count[name], name }' | sort -rn
    ;;
--check | --update)
    for package in "${both[@]}"; do
        build "$package" weight
    done
    all_bytes() {
        for package in "${both[@]}"; do
            bytes "$package" weight
        done
    }
    if [ "$1" = --update ]; then
        {
            echo "# Bytes of a debug build, written by ./weigh.sh --update, with $compiler"
            all_bytes
        } | tee "$baseline"
        exit
    fi
    may_grow=2
    if ! grep -qF "with $compiler" "$baseline"; then
        may_grow=15
        echo "warning: $baseline is of another compiler ($(sed -n '1s/.*with //p' "$baseline"), here $compiler)"
    fi
    all_bytes | awk -v may_grow=$may_grow '
        /^#/ { next }
        FNR == NR { old[$1, $2] = $3; next }
        {
            more = ($3 / old[$1, $2] - 1) * 100
            verdict = $2 != "all" ? "" : more > may_grow ? "FAILED" : more < -may_grow ? "ok, lower the baseline" : "ok"
            if (verdict == "FAILED") failed = 1
            printf "%-8s %-10s baseline %8d  now %8d  %+6.1f %%  %s\n", $1, $2, old[$1, $2], $3, more, verdict
        }
        END { exit failed }' "$baseline" - || {
        echo "A hundred scripts have more code than $baseline allows: ./weigh.sh --symbols shows which. Make it"
        echo "less, or, if the price is worth paying, run benches/weight/weigh.sh --update and commit the file."
        exit 1
    }
    ;;
*)
    sed -n 's/^#     //p' "$0" >&2
    exit 2
    ;;
esac
