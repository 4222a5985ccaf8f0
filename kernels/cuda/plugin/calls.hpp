// Memory, copies, the read pass, time and recordings (CUDA graphs) of the CUDA back end. Meaning:
// kernels/assay_kernels.h.
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

// Calls recorded as a CUDA graph. Meaning: kernels/assay_kernels.h.

AssayStatus begin_recording(AssayContext* context);
AssayStatus end_recording(AssayContext* context, AssayRecording** recording);
AssayStatus replay(AssayContext* context, AssayRecording* recording);
void destroy_recording(AssayContext* context, AssayRecording* recording);

}  // namespace assay::kernels::cuda
