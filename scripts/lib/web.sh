# Builds for wasm32-unknown-unknown, which not every toolchain includes. Source this
# file after install.sh, from the top of the repository.

# Where Debian's compiler is unpacked; all builds share it.
debian=${CARGO_TARGET_DIR:-$PWD/target}/debian

# Debian's newest compiler in a separate directory: an older one may be in use.
unpack_compiler() {
    if [ ! -x "$debian/rustc" ]; then
        rm -rf "$debian"
        mkdir -p "$debian/packages" "$debian/root"
        local source version series each
        source=$(apt-cache madison rust-web-src | awk 'NR == 1 { print $3 }')
        [ -n "$source" ] || return 1
        version=$source
        series=$(echo "$version" | cut -d. -f1,2)
        (cd "$debian/packages" && apt-get -qq download "rustc-web=$version" \
            "libstd-rust-web-$series=$version" "libstd-rust-web-dev=$version" \
            "rust-web-src=$version" 2>/dev/null) || return 1
        for each in "$debian"/packages/*.deb; do
            dpkg-deb -x "$each" "$debian/root"
        done
        rm -rf "$debian/packages"
        cat >"$debian/rustc" <<EOS
#!/bin/sh
LD_LIBRARY_PATH=$debian/root/usr/lib/$(uname -m)-linux-gnu exec $debian/root/usr/bin/rustc "\$@"
EOS
        chmod +x "$debian/rustc"
    fi
    export RUSTC=$debian/rustc
    "$RUSTC" --version >/dev/null 2>&1
}

# The script that a page needs to run a game in macroquad, the argument: its folder.
script_of_miniquad() {
    local manifest
    manifest=$(cargo metadata --format-version 1 --locked --manifest-path "$1/Cargo.toml" |
        grep -o '[^"]*/miniquad-[^/"]*/Cargo.toml' | sort -u)
    echo "$(dirname "$manifest")/js/gl.js"
}

# Flags for rustc, so that a program contains no path of this machine: a panic names the files of
# the packages, of the dependencies and of the standard library. Separated as cargo wants it,
# because paths may contain spaces. Of several that match, rustc takes the last.
flags_for_web() {
    local flags=(--remap-path-prefix="$PWD=" --remap-path-prefix="${CARGO_HOME:-$HOME/.cargo}=cargo"
        --remap-path-prefix="${CARGO_TARGET_DIR:-$PWD/target}=target"
        --remap-path-prefix="$("${RUSTC:-rustc}" --print sysroot)=rust" "$@")
    local IFS=$'\x1f'
    printf '%s' "${flags[*]}"
}

# What a toolchain of rustup needs.
target_for_web='rustup target add wasm32-unknown-unknown'

# Whether the toolchain has the standard library for the web.
has_target_for_web() {
    [ -d "$(rustc --print target-libdir --target wasm32-unknown-unknown 2>/dev/null || true)" ]
}

# Whether `build_for_web` can do something: it may install what is missing, or has done so.
may_build_for_web() {
    has_target_for_web || { command -v wasm-ld-22 >/dev/null && [ -x "$debian/rustc" ]; } || may_install
}

# cargo build for the web, with additional arguments, in the profile $web_profile or in release.
# With $web_verbose, it shows that it goes on.
build_for_web() {
    local profile=${web_profile:-release} quiet=(--quiet)
    [ -z "${web_verbose:-}" ] || quiet=()
    if has_target_for_web; then
        CARGO_ENCODED_RUSTFLAGS=$(flags_for_web) \
            cargo build "${quiet[@]}" --profile "$profile" --target wasm32-unknown-unknown "$@"
        return
    fi
    may_build_for_web || skip "no standard library for the web here: $target_for_web"
    need wasm-ld-22 lld-22
    (
        unpack_compiler || exit 9
        # With the sources of the standard library at hand, a stable compiler builds it.
        RUSTC_BOOTSTRAP=1 CARGO_ENCODED_RUSTFLAGS=$(flags_for_web -C linker=wasm-ld-22) \
            cargo build "${quiet[@]}" --profile "$profile" --target wasm32-unknown-unknown \
            -Zbuild-std=std,panic_abort "$@"
    ) || {
        [ $? = 9 ] && skip "no compiler for wasm to be had here: $target_for_web"
        return 1
    }
}
