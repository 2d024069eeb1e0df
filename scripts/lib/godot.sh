# A Godot engine in a folder of its own, with Debian's unstable in it. Needs root and Debian, and
# 1.3 GB. Source this file after install.sh.
#
# FRAMESTEP_GODOT_ENGINE names the folder; else it is target/godot-engine.

engine=${FRAMESTEP_GODOT_ENGINE:-${CARGO_TARGET_DIR:-$PWD/target}/godot-engine}/root

# Installs the engine, unless it is there.
need_godot() {
    [ ! -x "$engine/usr/bin/godot" ] || return 0
    may_install || skip 'no Godot to be had here: that takes root, and Debian'
    need debootstrap debootstrap
    local mirror
    mirror=$({ cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true; } |
        sed -n -E 's/^(URIs:|deb(-src)?( \[[^]]*\])?) +([^ ]*\/debian)\/?( .*)?$/\4/p' | head -n 1)
    [ -n "$mirror" ] || skip 'no Godot to be had here: apt has no source with Debian'
    # The machine may have none of what a folder needs to be a system.
    unshare --mount true 2>/dev/null || skip 'no Godot to be had here: there is no unshare --mount'
    rm -rf "$engine"
    mkdir -p "$engine"
    echo "installs Godot into $engine"
    debootstrap --variant=minbase sid "$engine" "$mirror" >"$engine.log" 2>&1 ||
        no_godot
    in_engine env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends \
        godot xvfb xauth libgl1-mesa-dri libgl1 >>"$engine.log" 2>&1 ||
        no_godot
    rm -rf "$engine"/var/cache/apt/*.bin "$engine"/var/cache/apt/archives/*.deb
}

# A mirror that does not answer, or a container that may not do this, is no fault of the package.
no_godot() {
    tail -n 20 "$engine.log"
    rm -rf "$engine"
    skip 'no Godot to be had here: it could not be installed'
}

# Runs a command in the folder. What is mounted there is gone when it ends, so that the
# folder can be removed.
in_engine() {
    unshare --mount bash -c '
        set -e
        mount --bind /proc "$0/proc"
        mount --bind /dev "$0/dev"
        exec chroot "$0" "$@"' "$engine" "$@"
}

# Copies a project into the folder, with a library, under a name. The engine reads the list of
# extensions in `.godot`, which else the editor writes.
project() {
    local name=$1 folder=$2 library=$3
    rm -rf "${engine:?}/$name"
    cp -r "$folder" "$engine/$name"
    cp "$library" "$engine/$name/"
    mkdir -p "$engine/$name/.godot"
    (cd "$engine/$name" && printf 'res://%s\n' *.gdextension >.godot/extension_list.cfg)
}
