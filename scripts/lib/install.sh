# Installs Debian packages, for scripts that need more than a Rust toolchain; with FRAMESTEP_INSTALL=0
# nothing. Source this file.

skip() {
    echo "skipped: $1"
    # .ci/run counts them.
    [ -z "${FRAMESTEP_SKIPPED:-}" ] || echo "$1" >>"$FRAMESTEP_SKIPPED"
    exit 0
}

may_install() {
    [ "${FRAMESTEP_INSTALL:-1}" = 1 ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null
}

install() {
    apt-get -qq update >/dev/null || true
    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@" >/dev/null
}

# Installs packages unless the command, the first argument, exists.
need() {
    local command=$1
    shift
    if ! command -v "$command" >/dev/null; then
        may_install && install "$@" || skip "no $command here: it is in the package $1 of Debian"
    fi
}
