# Sourced by scripts/dependencies: Debian packages. Needs: steps.bash.

# missing_packages GROUP…: those of scripts/packages.txt that are not installed, one a line.
missing_packages() {
    local wanted installed
    wanted=$(awk -v groups=" $* " '!/^#/ && NF == 2 && index(groups, " " $2 " ") { print $1 }' \
        scripts/packages.txt | LC_ALL=C sort -u)
    if ! command -v dpkg-query >/dev/null; then
        echo "$wanted"
        return
    fi
    # dpkg-query fails and complains where it has never heard of a package: that one is missing.
    # shellcheck disable=SC2086  # one word per package
    installed=$({ dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null || true; } |
        awk '$1 == "installed" { print $2 }' | LC_ALL=C sort -u)
    LC_ALL=C comm -23 <(echo "$wanted") <(echo "$installed")
}

# apt_get ARGUMENT…: as root, without questions, waiting for another apt-get that is running.
apt_get() {
    local become_root=()
    if ((EUID != 0)); then become_root=(sudo); fi
    "${become_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -y -q -o DPkg::Lock::Timeout=300 "$@"
}

# install_packages PACKAGE…
install_packages() {
    command -v apt-get >/dev/null ||
        fail "this machine has no apt-get (Debian 12 is what the package names are for); install by" \
            "its own means: $*"
    if ((EUID != 0)); then
        command -v sudo >/dev/null ||
            fail "packages are missing, this is not root and there is no sudo; as root run:" \
                "apt-get update && apt-get install $*"
        sudo -v || fail "sudo refused; as root run: apt-get update && apt-get install $*"
    fi
    # The package lists are fetched only where a package has no candidate or its file is gone.
    if apt_get install --no-install-recommends --dry-run "$@" >/dev/null 2>&1 &&
        logged .deps/log/apt-install.log apt_get install --no-install-recommends "$@"; then
        return
    fi
    echo "    fetching the lists of packages"
    logged .deps/log/apt-update.log apt_get update ||
        fail "apt-get update failed: is the network there, and are Debian 12's sources set up?"
    logged .deps/log/apt-install.log apt_get install --no-install-recommends "$@" ||
        fail "apt-get could not install the packages above; the names are those of Debian 12" \
            "($(. /etc/os-release 2>/dev/null && echo "this is ${PRETTY_NAME:-unknown}"))"
}
