// The decode step's kernels as machine code: images/build_images.sh compiles this file.
#include "impls/foundry/toy/device/rank_kernels.hpp"
