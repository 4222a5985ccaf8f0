// Which token is next, and how likely ids are: over many rows of logits at once, on all threads.
// The numbers depend on a row alone, neither on threads nor on other rows.
#pragma once

#include <span>
#include <vector>

#include "impls/decode/back_end.hpp"
#include "impls/decode/cpu/loops.hpp"
#include "kernels/cpu/context.hpp"

namespace assay::decode {

/// One row, and what is asked of it.
struct LogitRow {
    std::span<const float> logits;
    const Pick* pick = nullptr;  ///< null: nothing is picked
    int scored = -1;             ///< an id whose log-probability is wanted; -1: none
};

struct PickedRow {
    int id = -1;
    double log_probability = 0;  ///< of `id`, nats
    double score = 0;            ///< of `scored`, nats
    bool finite = true;          ///< false: there is no softmax, and nothing was picked
};

class Picker {
  public:
    /// out: one per row.
    void run(AssayContext& context, const Loops& loops, std::span<const LogitRow> rows,
             std::span<PickedRow> out);

  private:
    struct RowState {
        const float* logits;  ///< −inf where an id is not allowed
        std::vector<float> masked;
        std::vector<SoftmaxPart> parts, sharpened;  ///< of all logits; of those allowed, sharpened
    };
    std::vector<RowState> states_;
};

/// The id that `pick` finds among logits, −inf where one is not allowed. sharpened: of each
/// softmax_piece of them, by sharpness_of(temperature); not needed at temperature 0.
int pick_id(std::span<const float> logits, const Pick& pick,
            std::span<const SoftmaxPart> sharpened);

constexpr int softmax_piece = 4096;  ///< logits of one part

/// 1/temperature, as a float never 0 nor infinite: −inf · 0 would be NaN.
float sharpness_of(double temperature);

/// The parts of a row.
std::vector<SoftmaxPart> softmax_parts(const Loops& loops, std::span<const float> logits,
                                       float sharpness);
/// ln of the sum of all exp(logit).
double log_sum(std::span<const SoftmaxPart> parts);

}  // namespace assay::decode
