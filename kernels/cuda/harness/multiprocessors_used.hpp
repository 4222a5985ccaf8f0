// Where on a device a stream's kernels run.
#pragma once

#include <set>

namespace assay::kernels::cuda::harness {

/// The numbers (%smid) of the multiprocessors that ran any of 4,096 blocks on the cudaStream_t;
/// empty on an error.
std::set<int> multiprocessors_used(void* stream);

}  // namespace assay::kernels::cuda::harness
