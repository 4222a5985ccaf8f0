// The CPU back end's state behind AssayContext.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cpu/instruction_set.hpp"
#include "kernels/cpu/worker_pool.hpp"

namespace assay::kernels {
constexpr int vector_alignment = 64;  ///< bytes of the widest vector and of a cache line
}

struct AssayContext {
    AssayContext(const assay::kernels::InstructionSet& instructions, int threads)
        : instructions(instructions), pool(threads) {}

    const assay::kernels::InstructionSet& instructions;
    assay::kernels::WorkerPool pool;
    std::string error;  ///< of the last call that failed
    std::chrono::steady_clock::time_point timing_began;

    /// Memory for `count` floats, aligned to vectors; valid until the next call of this function.
    /// Grows only. Throws std::bad_alloc.
    float* aligned_floats(std::size_t count) {
        constexpr std::size_t slack = assay::kernels::vector_alignment / sizeof(float);
        if (scratch_.size() < count + slack) scratch_.resize(count + slack);
        const auto address = reinterpret_cast<std::uintptr_t>(scratch_.data());
        const std::uintptr_t past = address % assay::kernels::vector_alignment;
        return scratch_.data() +
               (past ? (assay::kernels::vector_alignment - past) / sizeof(float) : 0);
    }

  private:
    std::vector<float> scratch_;
};

namespace assay::kernels {

/// For `return refuse(context, ASSAY_BAD_ARGUMENT, "…")`.
inline AssayStatus refuse(AssayContext& context, AssayStatus status, std::string why) {
    context.error = std::move(why);
    return status;
}

}  // namespace assay::kernels
