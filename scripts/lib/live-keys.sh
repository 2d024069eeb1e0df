# Presses the keys of demos/live in its window, saves its scripts, and looks at the pictures. For
# scripts/plays/live, in a virtual screen.
#
# usage: bash scripts/lib/live-keys.sh PROGRAM PICTURES
set -euo pipefail
program=$1
pictures=$2
source=scripts/src/lib.rs
log=$pictures/keys.log

"$program" 2>"$log" &
game=$!
cp "$source" "$pictures/lib.rs"
at_exit() {
    kill "$game" 2>/dev/null || true
    cp "$pictures/lib.rs" "$source"
}
trap at_exit EXIT

# Tries until a command succeeds: a minute at most.
await() {
    local what=$1
    shift
    for _ in $(seq 240); do
        "$@" && return
        kill -0 "$game" || break
        sleep 0.25
    done
    import -window root "$pictures/keys-failed.png"
    cat "$log"
    echo "not seen: $what"
    exit 1
}
told() { [ "$(grep -c "$1" "$log")" -ge "$2" ]; }
press() {
    xdotool windowfocus "$window"
    xdotool "$@"
}

# Counts the pixels in an area of the window whose red, green and blue an awk condition accepts.
count() {
    import -window "$window" -depth 8 -crop "$1" rgb:- | od -An -v -tu1 -w3 |
        awk "{ r = \$1; g = \$2; b = \$3 } $2 { n++ } END { print n + 0 }"
}
# The loop is a golden frame around the strip, the remembered frames are a bar, 1.15 pixels each.
loops() { [ "$(count 920x1+20+545 'r > 230 && g > 190 && b < 120')" -gt 100 ]; }
does_not_loop() { ! loops; }
remembered() { count 690x1+20+551 'g > 95 && b > 110'; }
remembers() { [ "$(remembered)" -ge "$1" ]; }
remembers_less() { [ "$(remembered)" -lt "$1" ]; }
# Words on the panel.
shows_trouble() { [ "$(count 936x40+12+36 'r > 200 && g < 140')" -gt 60 ]; }
shows_news() { [ "$(count 936x60+12+36 'r < 140 && g > 200 && b > 220')" -gt 60 ]; }
shows_nothing() { ! shows_trouble && ! shows_news; }
# The middle of the ship, in the lower part of the window.
ship() {
    import -window "$window" -depth 8 -crop 960x200+0+330 rgb:- | od -An -v -tu1 -w3 |
        awk '$1 < 130 && $2 > 225 && $3 > 235 { x += (NR - 1) % 960; n++ }
            END { print n ? int(x / n) : 480 }'
}
is_left_of() { [ "$(ship)" -lt "$1" ]; }
is_right_of() { [ "$(ship)" -gt "$1" ]; }

window=$(xdotool search --sync --onlyvisible --name 'framestep: live' | head -1)
await 'that it watches' told 'live: watches' 1

press keydown Left
await 'the ship at the left' is_left_of 300
press keyup Left keydown Right
await 'the ship at the right' is_right_of 600
press keyup Right

# Eight seconds, then five of them back.
await 'a history of 490 frames' remembers 563
press key b
# It grows again meanwhile.
await 'that five seconds are gone' remembers_less 450

await 'a history of 150 frames' remembers 173
press key l
await 'the loop' loops
sed -i 's/let arms = 3_u8/let arms = 5_u8/' "$source"
await 'the new code' told 'live: new code after' 1
await 'what has become of the scripts' shows_news
loops
import -window "$window" "$pictures/keys-loop.png"

sed -i 's/let speed = 150.0/let speed = "fast"/' "$source"
await 'the words of the compiler' told 'error\[E0308\]: mismatched types' 1
await 'the words of the compiler in the window' shows_trouble
import -window "$window" "$pictures/keys-error.png"
cp "$pictures/lib.rs" "$source"
await 'the code as it was' told 'live: new code after' 2

press key l
await 'the end of the loop' does_not_loop
await 'that the news are old' shows_nothing
press key a
await 'that nothing was refused' shows_trouble
press key g
await 'that the next key clears it' shows_nothing
kill -0 "$game"
echo "keys: arrows, b, l, a and g do what they say"
