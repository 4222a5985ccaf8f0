// Stand-ins for the CUDA plug-in, one for each way in which it can be right or wrong; which, the
// build says: FAKE_VERSION, and FAKE_NULL, FAKE_LACK, FAKE_INCOMPLETE or FAKE_NAMELESS.
#include "kernels/assay_kernels.h"

namespace {

int context;
AssayContext* create(int32_t, int32_t, void*) { return reinterpret_cast<AssayContext*>(&context); }
void destroy(AssayContext*) {}
const char* last_error(const AssayContext*) { return "fake"; }
AssayStatus synchronise(AssayContext*) { return ASSAY_OK; }

}  // namespace

#ifdef FAKE_LACK
extern "C" const char* assay_cuda_kernels_lack() { return "the driver is too old"; }
#endif
#ifndef FAKE_NAMELESS
extern "C" const AssayKernels* assay_cuda_kernels() {
    static AssayKernels kernels{};
    kernels.version = FAKE_VERSION;
    kernels.name = "cuda/fake";
    kernels.create = create;
    kernels.destroy = destroy;
    kernels.last_error = last_error;
    kernels.synchronise = synchronise;
#ifdef FAKE_INCOMPLETE
    kernels.synchronise = nullptr;
#endif
    const bool no_device =
#ifdef FAKE_NULL
        true;
#else
        false;
#endif
    return no_device ? nullptr : &kernels;
}
#else
extern "C" void another_function() {
    static_cast<void>(create);
    static_cast<void>(destroy);
    static_cast<void>(last_error);
    static_cast<void>(synchronise);
}
#endif
