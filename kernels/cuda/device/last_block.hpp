// Lets the block that ends last continue with what all have written: one launch less.
#pragma once

#include "kernels/cuda/device/machine.hpp"

namespace assay::kernels::cuda {

/// True in the last of `blocks` blocks that get here, for all its threads; `counter` is 0 before
/// and after. What the others wrote before this call is read with load_of_other_block(). `flag`: a
/// place in block memory that nobody uses.
ASSAY_DEVICE bool is_last_block(int* counter, int blocks, float* flag) {
    fence_between_blocks();
    block_barrier();
    if (thread_index() == 0) {
        const bool last = count_one(counter) == blocks - 1;
        if (last) *counter = 0;
        *flag = last ? 1.0f : 0.0f;
    }
    block_barrier();
    const bool last = *flag != 0.0f;
    fence_between_blocks();
    block_barrier();
    return last;
}

}  // namespace assay::kernels::cuda
