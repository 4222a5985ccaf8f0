#!/bin/sh
# Compiles the decode step's kernels for A100, H100/H200 and B200, and notes of which source: NVCC=…
# names the compiler. The committed image was made with nvcc 13.0.
set -eu
cd "$(dirname "$0")/../../../.."
toy=impls/foundry/toy
"${NVCC:-nvcc}" -std=c++17 -O2 -I. -fatbin --compress-mode=size \
    -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 \
    -gencode arch=compute_100,code=sm_100 -o $toy/images/decode_kernels.fatbin $toy/decode_kernels.cu
sha256sum $toy/decode_kernels.cu $toy/device/decode_kernels.hpp $toy/device/rank_kernels.hpp \
    $toy/images/decode_kernels.fatbin >$toy/images/SHA256SUMS
