# Sourced by scripts/dependencies: SimGrid's headers in .deps/simgrid. Needs: steps.bash, packages.bash.
# shellcheck disable=SC2034  # used by the script that sources this one

# The library comes as a package like all others, libsimgrid3.32. Its headers are in libsimgrid-dev,
# which wants libboost-dev, Boost 1.74, and that conflicts with libboost1.81-dev: so the headers alone
# are taken out of the package, unless somebody has installed it.
simgrid_library=libsimgrid3.32
simgrid_headers=libsimgrid-dev
simgrid_folder=.deps/simgrid
simgrid_stamp=$simgrid_folder/version

# simgrid_version: that of the library's package, which the headers must be of; empty: not installed.
simgrid_version() {
    # shellcheck disable=SC2016  # dpkg-query's variables
    dpkg-query -W -f '${db:Status-Status} ${Version}\n' "$simgrid_library" 2>/dev/null |
        sed -n 's/^installed //p' || true
}

# simgrid_is_right: the library is there, and headers of its version.
simgrid_is_right() {
    local version
    version=$(simgrid_version)
    [[ -n $version ]] || return 1
    [[ -f /usr/include/simgrid/s4u.hpp ]] && return
    [[ -f $simgrid_folder/include/simgrid/s4u.hpp && -f $simgrid_stamp && $(<"$simgrid_stamp") == "$version" ]]
}

# download_simgrid FOLDER VERSION: the package of the headers.
download_simgrid() {
    (cd "$1" && apt-get download "$simgrid_headers=$2")
}

# install_simgrid_headers: built up beside its place and moved there when complete. The caller holds a
# lock and removes .deps/fetching.* in the end.
install_simgrid_headers() {
    local version fetching
    version=$(simgrid_version)
    step "Fetching SimGrid's headers, $simgrid_headers $version (250 KB, a second)"
    fetching=$(mktemp -d .deps/fetching.XXXXXX)
    if ! download_simgrid "$fetching" "$version" >/dev/null 2>&1; then
        echo "    fetching the lists of packages"
        logged .deps/log/apt-update.log apt_get update ||
            fail "apt-get update failed; --without-simgrid does without SimGrid"
        logged .deps/log/simgrid-download.log download_simgrid "$fetching" "$version" ||
            fail "apt-get could not download $simgrid_headers $version, which holds SimGrid's headers;" \
                "--without-simgrid does without: everything but simulated networks still builds"
    fi
    dpkg-deb -x "$fetching"/"$simgrid_headers"_*.deb "$fetching" ||
        fail "$simgrid_headers could not be unpacked; is the disk full?"
    echo "$version" >"$fetching/usr/version"
    rm -rf "$simgrid_folder"
    mkdir "$simgrid_folder"
    mv "$fetching/usr/include" "$fetching/usr/version" "$fetching/usr/share/doc/$simgrid_headers/copyright" \
        "$simgrid_folder/"
    rm -rf "$fetching"
}
