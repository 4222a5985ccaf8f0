// The CPU back end: its calls, which check their arguments, and its state behind AssayContext.
// Meaning: kernels/assay_kernels.h.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/assay_kernels.h"
#include "kernels/cpu/instruction_set.hpp"
#include "kernels/cpu/worker_pool.hpp"

namespace assay::kernels {

constexpr int largest_batch = 16;

AssayStatus gemv(AssayContext& context, const AssayGemv& call);
AssayStatus router(AssayContext& context, const AssayRouter& call);
AssayStatus sparse_ffn(AssayContext& context, const AssaySparseFfn& call);
AssayStatus dispatch(AssayContext& context, const AssayDispatch& call);
AssayStatus shuffle(AssayContext& context, const AssayRowMove& call);
AssayStatus unshuffle(AssayContext& context, const AssayRowMove& call);
AssayStatus row_scores(AssayContext& context, const AssayRowScores& call);
AssayStatus weight_gradient(AssayContext& context, const AssayWeightGradient& call);
/// 0 for what is refused.
std::size_t row_scores_workspace(const AssayRowScores& call);
/// 0 for shapes and types that have no kernel.
std::size_t sparse_ffn_workspace(const AssayFfn& ffn, int batch);

/// Whether `batch` can be computed; if not, the context's error says why.
AssayStatus check_batch(AssayContext& context, int batch);
/// Fills rows[t] with the address of each token, aligned to vectors: of a copy where it was not. A
/// vector that lies across two cache lines takes two loads, and every row of weights loads x again.
void aligned_tokens(AssayContext& context, const float* x, int batch, int columns,
                    const float* (&rows)[largest_batch]);

// Memory, copies and time.
void* allocate(AssayContext* context, std::size_t bytes);
void release(AssayContext* context, void* memory);
AssayStatus copy(AssayContext* context, void* to, const void* from, std::size_t bytes);
AssayStatus gather(AssayContext* context, void* to, const void* from, const std::int32_t* ids,
                   std::int32_t count, std::size_t piece_bytes);
AssayStatus read_pass(AssayContext* context, const void* from, std::size_t bytes);
AssayStatus begin_timing(AssayContext* context);
AssayStatus end_timing(AssayContext* context, double* seconds);

constexpr int vector_alignment = 64;  ///< bytes of the widest vector and of a cache line
}  // namespace assay::kernels

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
