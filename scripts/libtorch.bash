# Sourced by scripts/dependencies: libtorch in .deps/libtorch, out of the wheels in
# scripts/libtorch.txt. Needs: steps.bash, wheels.bash.
# shellcheck disable=SC2034  # used by the script that sources this one

libtorch_folder=.deps/libtorch
libtorch_stamp=$libtorch_folder/stamp

libtorch_version() { sed -n 's/^\(torch==[^ ]*\).*/\1/p' scripts/libtorch.txt; }

# What must be there, as one hash: changing a pin makes an old stamp invalid.
libtorch_pins() { cat scripts/libtorch.txt scripts/libtorch.sha256 | sha256sum; }

# libtorch_is_right: installed from these pins by an earlier call.
libtorch_is_right() {
    [[ -f $libtorch_stamp && $(<"$libtorch_stamp") == "$(libtorch_pins)" ]]
}

stamp_libtorch() { libtorch_pins >"$libtorch_stamp"; }

# libtorch_matches FOLDER: libraries and headers there have the known content (two seconds).
libtorch_matches() {
    [[ -d $1 ]] || return 1
    local known
    known=$(realpath scripts/libtorch.sha256)
    (
        cd "$1" || exit 1
        grep -v ' torch/include$' "$known" | sha256sum --check --status --strict || exit 1
        [[ "$(headers_hash) torch/include" == "$(grep ' torch/include$' "$known" | tr -s ' ')" ]]
    ) 2>/dev/null
}

# headers_hash: of all files below torch/include in the current folder.
headers_hash() {
    find torch/include -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -d ' ' -f 1
}

# extract_wheels WHEELS FOLDER: the libraries a program without GPU needs, and the headers.
extract_wheels() {
    unzip -q -o "$1"/torch-*.whl 'torch/include/*' torch/lib/libtorch_cpu.so torch/lib/libc10.so \
        torch/lib/libgomp.so.1 torch/lib/libtorch_global_deps.so -d "$2" &&
        unzip -q -o "$1"/nvidia_cuda_runtime-*.whl 'nvidia/cu13/lib/*.so*' -d "$2" &&
        unzip -q -o "$1"/nvidia_cuda_cupti-*.whl 'nvidia/cu13/lib/*.so*' -d "$2"
}

# install_libtorch: built up beside its place and moved there when complete. The caller holds a lock and
# removes .deps/fetching.* in the end.
install_libtorch() {
    local free_mib needed_mib=1200 fetching
    step "Fetching libtorch, $(libtorch_version) (545 MB; half a minute on a fast line)"
    [[ $(uname -m) == x86_64 ]] ||
        fail "libtorch is pinned for x86_64 and this is $(uname -m); --without-torch does without it"
    free_mib=$(df --output=avail -m .deps | tail -n 1 | tr -d ' ')
    ((free_mib >= needed_mib)) ||
        fail "libtorch needs $needed_mib MiB of free disk while it is unpacked and $free_mib are left"

    rm -rf .deps/fetching.*  # of a call that was killed
    fetching=$(mktemp -d .deps/fetching.XXXXXX)
    logged .deps/log/libtorch-download.log download_wheels scripts/libtorch.txt "$fetching" ||
        fail "pip could not download libtorch; its settings (pip config list) say where from." \
            "--without-torch does without it: everything but live training still builds"
    mkdir "$fetching/libtorch"
    logged .deps/log/libtorch-unpack.log extract_wheels "$fetching" "$fetching/libtorch" ||
        fail "the wheels could not be unpacked; is the disk full?"
    libtorch_matches "$fetching/libtorch" ||
        fail "the unpacked libtorch is not what scripts/libtorch.sha256 lists"
    rm -rf "$libtorch_folder"
    mv "$fetching/libtorch" "$libtorch_folder"
    rm -rf "$fetching"
    stamp_libtorch
}
