// What the calls of kernels/dispatch must look like, on any back end. What lies in their memory is
// not looked at: on a GPU, the host cannot see it.
#pragma once

#include <cstdint>

#include "kernels/assay_kernels.h"

namespace assay::kernels {

constexpr int most_ranks = 1024;
constexpr std::size_t moved_unit = 16;  ///< bytes

/// Null, or why a call is refused (ASSAY_BAD_ARGUMENT).
inline const char* refusal(const AssayDispatch& call) {
    if (call.experts < 1 || call.ranks < 1 || call.ranks > most_ranks || call.rank < 0 ||
        call.rank >= call.ranks)
        return "dispatch: there must be experts, 1 to 1024 ranks, and this one among them";
    if (static_cast<std::int64_t>(call.experts) * call.ranks >= INT32_MAX)
        return "dispatch: experts · ranks is too large";
    if (call.rows < 0 || call.receive_room < 0)
        return "dispatch: rows and receive_room must not be negative";
    if (!call.tokens || !call.replicas || !call.send_first || !call.receive_first ||
        !call.expert_first || (call.rows > 0 && (!call.choices || !call.places)) ||
        (call.receive_room > 0 && !call.grouped))
        return "dispatch: addresses must not be null";
    return nullptr;
}

inline const char* refusal(const AssayRowMove& call) {
    const auto aligned = [](const void* address) {
        return reinterpret_cast<std::uintptr_t>(address) % moved_unit == 0;
    };
    if (call.rows < 0 || call.places_end < 0 || call.row_bytes % moved_unit != 0)
        return "shuffle: rows and places must not be negative, a row a multiple of 16 bytes";
    if (call.rows > 0 && (!call.places || !call.from || !call.to))
        return "shuffle: addresses must not be null";
    if (!aligned(call.from) || !aligned(call.to))
        return "shuffle: both buffers must be aligned to 16 bytes";
    return nullptr;
}

}  // namespace assay::kernels
