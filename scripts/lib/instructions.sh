# Sourced by the scripts that count the instructions of a bench with the rows of
# `benches/instructions.rs`, in the folder of the script. They set `work`, an empty folder, and, if they
# compare, `baseline`, the file with the counts.

# mode_of [ARGUMENT...]: prints what the first argument asks for: `print`, `check` or `update`.
mode_of() {
    case ${1:-} in
    --check | --update) echo "${1#--}" ;;
    -*)
        sed -n 's/^#     //p' "${0##*/}" >&2
        return 2
        ;;
    *) echo print ;;
    esac
}

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

# check_rows COMPILER: compares what was counted now, in `$work/now`, with `$baseline`.
check_rows() {
    same=1
    if ! grep -qF "with $1" "$baseline"; then
        same=0
        echo "warning: $baseline is of another compiler ($(sed -n '1s/.*with //p' "$baseline"), here $1)"
    fi
    awk -v same=$same '
        # The first file is the baseline, the second what was counted now.
        /^#/ { next }
        FNR == NR { old[$1] = $2; next }
        {
            if (!($1 in old)) {
                printf "%-12s not in the baseline\n", $1
                failed = 1
                next
            }
            more = $2 / old[$1] - 1
            verdict = more <= 0.04 ? "ok" : more <= 0.15 && !same ? "warning" : "FAILED"
            if (verdict == "FAILED") failed = 1
            if (more < -0.04) verdict = "ok, lower the baseline"
            printf "%-12s baseline %12.1f  now %12.1f  %+6.1f %%  %s\n", \
                $1, old[$1], $2, more * 100, verdict
            delete old[$1]
        }
        END {
            for (name in old) {
                print name ": in the baseline, but not counted"
                failed = 1
            }
            exit failed
        }' "$baseline" "$work/now"
}

# print_or_compare WHO SCRIPT [ROW...]: prints the counts that `rows` prints, or does with them what else
# `mode` says. WHO is who needs them, as the beginning of a sentence.
print_or_compare() {
    who=$1 script=$2
    shift 2
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
            echo "$who need more instructions than $baseline allows. Make it fewer, or, if the price is"
            echo "worth paying, run $script --update and commit the file."
            exit 1
        }
        ;;
    esac
}

# cold_functions FOLDER...: the functions marked `#[cold]` in these sources, as `MODULE NAME`.
cold_functions() {
    grep -rn -A8 '^ *#\[cold\]' --include='*.rs' "$@" | awk '
        /#\[cold\]/ {
            path = $0
            sub(/:[0-9]+:.*/, "", path)
            sub(/.*src\//, "", path)
            sub(/\.rs$/, "", path)
            sub(/(^|\/)(mod|lib)$/, "", path)
            gsub(/\//, "::", path)
            waits = 1
            next
        }
        waits && match($0, /fn [a-z_0-9]+/) {
            print (path == "" ? "-" : path), substr($0, RSTART + 3, RLENGTH - 3)
            waits = 0
        }' | sort -u
}

# cold_calls ITEMS <COLD: prints the functions of the list that the row counted last calls more than
# once in a hundred items. A function that scales with the scripts is not cold.
cold_calls() {
    awk -v items="$1" '
        NR == FNR { cold[$2] = cold[$2] " " $1; next }
        /^cfn=/ {
            text = substr($0, 5)
            id = text
            sub(/\).*/, ")", id)
            if (index(text, ") ")) names[id] = substr(text, index(text, ") ") + 2)
            callee = id
        }
        /^fn=/ && index($0, ") ") {
            text = substr($0, 4)
            id = text
            sub(/\).*/, ")", id)
            names[id] = substr(text, index(text, ") ") + 2)
        }
        /^calls=/ {
            count = $1
            sub(/calls=/, "", count)
            calls[callee] += count
        }
        END {
            for (id in calls) {
                if (calls[id] * 100 <= items) continue
                count = split(names[id], parts, "::")
                last = parts[count]
                sub(/[^a-z_0-9].*/, "", last)
                if (!(last in cold)) continue
                modules = split(substr(cold[last], 2), module, " ")
                for (at = 1; at <= modules; at++) {
                    if (module[at] == "-" || index(names[id], module[at] "::")) {
                        print names[id], "is called", calls[id], "times for", items, "items"
                        break
                    }
                }
            }
        }' - "$work/out"
}
