// Contexts of a back end that free themselves.
#pragma once

#include <memory>

#include "kernels/assay_kernels.h"

namespace assay::kernels::reference {

struct DestroyContext {
    const AssayKernels* kernels = nullptr;
    void operator()(AssayContext* context) const { kernels->destroy(context); }
};
using Context = std::unique_ptr<AssayContext, DestroyContext>;

inline Context make_context(const AssayKernels* kernels, int threads) {
    return Context(kernels->create(threads, 0, nullptr), DestroyContext{kernels});
}

}  // namespace assay::kernels::reference
