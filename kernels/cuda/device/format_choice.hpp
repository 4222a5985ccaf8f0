// From a call's type, access and tokens to the kernels compiled for them.
#pragma once

#include <type_traits>

#include "kernels/cuda/device/weight_formats.hpp"
#include "kernels/cuda/host/launch_plan.hpp"

namespace assay::kernels::cuda {

/// Hands a format to a generic function.
template <class Format>
struct Chosen {
    using type = Format;
};
template <int tokens>
using Tokens = std::integral_constant<int, tokens>;

template <class Format, class Use>
void with_wide(int tokens, const Use& use) {
    switch (tokens) {
        case 1:
            return use(Chosen<Format>{}, Tokens<1>{});
        case 4:
            return use(Chosen<Format>{}, Tokens<4>{});
        case 8:
            return use(Chosen<Format>{}, Tokens<8>{});
        default:
            return use(Chosen<Format>{}, Tokens<16>{});
    }
}

/// Calls use(Chosen<Format>, Tokens<n>) for a plain type; tokens: tokens_per_pass().
template <class Use>
void with_plain_format(AssayType type, Access access, int tokens, const Use& use) {
    if (access == Access::wide) {
        if (type == ASSAY_F32) return with_wide<F32x4>(tokens, use);
        if (type == ASSAY_F16) return with_wide<F16x8>(tokens, use);
        return with_wide<Bf16x8>(tokens, use);
    }
    if (type == ASSAY_F32) return use(Chosen<F32x1>{}, Tokens<4>{});
    if (type == ASSAY_F16) return use(Chosen<F16x1>{}, Tokens<4>{});
    return use(Chosen<Bf16x1>{}, Tokens<4>{});
}

template <class Format, class Use>
void with_quantised(int tokens, const Use& use) {
    if (tokens == 1) return use(Chosen<Format>{}, Tokens<1>{});
    return use(Chosen<Format>{}, Tokens<4>{});
}

/// The same for any type.
template <class Use>
void with_any_format(AssayType type, Access access, int tokens, const Use& use) {
    switch (type) {
        case ASSAY_Q8_0:
            return with_quantised<Q8>(tokens, use);
        case ASSAY_Q4_0:
            return with_quantised<Q4<false>>(tokens, use);
        case ASSAY_Q4_1:
            return with_quantised<Q4<true>>(tokens, use);
        default:
            return with_plain_format(type, access, tokens, use);
    }
}

}  // namespace assay::kernels::cuda
