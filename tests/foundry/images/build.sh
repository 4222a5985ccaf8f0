#!/usr/bin/env bash
# Compiles the images of images_test.cpp again, with nvcc 13.0; the tests themselves need no
# toolkit. OLD_PTXAS: a ptxas of CUDA 11.8, which writes cubins of ABI version 7.
set -euo pipefail
cd "$(dirname "$0")"

# One source for three architectures: compressed cubins, and the layouts' declarations as PTX.
nvcc -ptx -arch=compute_90a layouts.cu -o layouts.ptx
nvcc -fatbin --compress-mode=size -gencode arch=compute_80,code=sm_80 \
    -gencode arch=compute_90a,code=sm_90a \
    -gencode "arch=compute_100,code=[sm_100,compute_100]" layouts.cu -o layouts.fatbin
# A relocatable cubin and LTO code.
nvcc -fatbin -dc --compress-mode=size -gencode arch=compute_80,code=sm_80 \
    -gencode arch=compute_80,code=lto_80 large.cu -o large.fatbin
# Cubins outside of a fatbin.
ptxas -arch=sm_80 pointers.ptx -o pointers.cubin
if [[ -n "${OLD_PTXAS:-}" ]]; then "$OLD_PTXAS" -arch=sm_80 pointers.ptx -o pointers.abi_7.cubin; fi
