# Sourced by scripts that take something out of pinned Python wheels.

# download_wheels LIST FOLDER: pip checks the wheels of LIST against the hashes it gives. Its own settings (index, proxy,
# certificates) are honoured. The platform is spelled out, so that any python3 will do.
download_wheels() {
    local python=python3 platforms=() glibc
    python3 -m pip --version >/dev/null 2>&1 || python=/usr/bin/python3
    for glibc in 2014 _2_17 _2_24 _2_25 _2_26 _2_27 _2_28; do
        platforms+=(--platform "manylinux${glibc}_x86_64")
    done
    "$python" -m pip download --no-cache-dir --no-deps --only-binary=:all: --progress-bar off \
        --disable-pip-version-check --python-version 3.11 --implementation cp --abi cp311 --abi none \
        "${platforms[@]}" --require-hashes -r "$1" -d "$2"
}
