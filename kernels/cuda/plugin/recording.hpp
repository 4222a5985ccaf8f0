// Calls recorded as a CUDA graph. Meaning: kernels/assay_kernels.h.
#pragma once

#include "kernels/assay_kernels.h"

namespace assay::kernels::cuda {

AssayStatus begin_recording(AssayContext* context);
AssayStatus end_recording(AssayContext* context, AssayRecording** recording);
AssayStatus replay(AssayContext* context, AssayRecording* recording);
void destroy_recording(AssayContext* context, AssayRecording* recording);

}  // namespace assay::kernels::cuda
