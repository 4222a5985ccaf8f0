# Sourced by scripts/quickstart and scripts/test: configures and builds the preset `cpu`.
# Needs: steps.bash.

# build_jobs: as many compilers at once as there are cores, but no more than fit into memory: a file
# that includes libtorch takes 1.4 GB to compile.
build_jobs() {
    local cores memory_mib jobs
    cores=$(nproc)
    memory_mib=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
    jobs=$((memory_mib / 1500))
    if ((jobs > cores)); then jobs=$cores; fi
    if ((jobs < 1)); then jobs=1; fi
    echo "$jobs"
}

# configure: reads the presets. What was found is remembered in CMakeCache.txt, so a cache that is
# older than the last change of the dependencies is thrown away (compiled files are kept).
configure() {
    local fresh=()
    if [[ .deps/changed -nt build/cpu/CMakeCache.txt ]]; then fresh=(--fresh); fi
    step "Configuring build/cpu (seconds)"
    logged build/log/configure.log cmake "${fresh[@]}" --preset cpu ||
        fail "CMake could not configure the build; build/log/configure.log has all of its output"
}

# build TARGET: `all` is everything, tests included.
build() {
    local jobs takes="6 to 14"
    if [[ $1 == all ]]; then takes="12 to 30"; fi
    jobs=$(build_jobs)
    step "Building target $1 with $jobs jobs (the first time $takes minutes on two cores)"
    logged build/log/build.log cmake --build --preset cpu --parallel "$jobs" --target "$1" ||
        fail "the build failed; build/log/build.log has all of its output. If the compiler was" \
            "killed, memory was short: close other programs and call this script again"
}

# continue_as_caller ARGUMENT…: called through sudo, this script starts again as the user who called
# it, so that what is built and measured is theirs; only the packages needed root. A tree that belongs
# to somebody else stays root's work.
continue_as_caller() {
    if ((EUID == 0)) && [[ -n ${SUDO_USER:-} && ${SUDO_UID:-0} != 0 && $(stat -c %u .) == "$SUDO_UID" ]]; then
        exec sudo -H -u "$SUDO_USER" --preserve-env=ASSAY_DB,ASSAY_DATA,XDG_DATA_HOME -- "scripts/$(basename "$0")" "$@"
    fi
}
