// Memory, copies, the read pass and time of the CUDA back end. Meaning: kernels/assay_kernels.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/assay_kernels.h"

namespace assay::kernels::cuda {

void* allocate(AssayContext* context, std::size_t bytes);
void release(AssayContext* context, void* memory);
AssayStatus upload(AssayContext* context, void* to, const void* from, std::size_t bytes);
AssayStatus download(AssayContext* context, void* to, const void* from, std::size_t bytes);
AssayStatus copy(AssayContext* context, void* to, const void* from, std::size_t bytes);
AssayStatus gather(AssayContext* context, void* to, const void* from, const std::int32_t* ids,
                   std::int32_t count, std::size_t piece_bytes);
AssayStatus read_pass(AssayContext* context, const void* from, std::size_t bytes);
AssayStatus begin_timing(AssayContext* context);
AssayStatus end_timing(AssayContext* context, double* seconds);

}  // namespace assay::kernels::cuda
