# Sourced by scripts/dependencies: CUDA's driver interface, cuda.h, in .deps/cuda, out of the wheel of
# the CUDA run time that scripts/libtorch.txt pins. Needs: steps.bash, wheels.bash.
# shellcheck disable=SC2034  # used by the script that sources this one

cuda_header_folder=.deps/cuda
cuda_header_stamp=$cuda_header_folder/stamp

cuda_header_pin() { grep '^nvidia-cuda-runtime==' scripts/libtorch.txt; }
cuda_header_version() { cuda_header_pin | sed 's/^nvidia-cuda-runtime==\([^ ]*\).*/\1/'; }

# cuda_header_is_right: it is of the pinned wheel.
cuda_header_is_right() {
    [[ -f $cuda_header_folder/include/cuda.h && -f $cuda_header_stamp &&
        $(<"$cuda_header_stamp") == "$(cuda_header_pin)" ]]
}

# install_cuda_header: built up beside its place and moved there when complete. The caller holds a lock
# and removes .deps/fetching.* in the end.
install_cuda_header() {
    local fetching
    step "Fetching cuda.h, CUDA $(cuda_header_version) (2 MB, some seconds)"
    fetching=$(mktemp -d .deps/fetching.XXXXXX)
    cuda_header_pin >"$fetching/pins"
    logged .deps/log/cuda-header-download.log download_wheels "$fetching/pins" "$fetching" ||
        fail "pip could not download CUDA's header; its settings (pip config list) say where from." \
            "--without-cuda-header does without it: everything but Foundry's driver still builds"
    unzip -q -o "$fetching"/nvidia_cuda_runtime-*.whl nvidia/cu13/include/cuda.h '*/licenses/*' -d "$fetching" ||
        fail "the wheel could not be unpacked; is the disk full?"
    mkdir -p "$fetching/cuda/include"
    mv "$fetching/nvidia/cu13/include/cuda.h" "$fetching/cuda/include/"
    mv "$fetching"/*.dist-info/licenses/License.txt "$fetching/cuda/LICENSE.txt"
    cuda_header_pin >"$fetching/cuda/stamp"
    rm -rf "$cuda_header_folder"
    mv "$fetching/cuda" "$cuda_header_folder"
    rm -rf "$fetching"
}
