// Which token is next, and how likely ids are: over many rows of logits at once, on all threads.
// The numbers depend on a row alone, neither on threads nor on other rows.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "impls/decode/back_end.hpp"
#include "impls/decode/cpu/loops.hpp"
#include "kernels/cpu/context.hpp"

namespace assay::decode {

/// One row, and what is asked of it.
struct LogitRow {
    std::span<float> logits;     ///< those that `pick` does not allow become −inf
    const Pick* pick = nullptr;  ///< null: nothing is picked
    int scored = -1;             ///< an id whose log-probability is wanted; -1: none
};

struct PickedRow {
    int id = -1;
    float log_probability = 0;          ///< of `id`, nats
    float sampled_log_probability = 0;  ///< with which it was drawn, nats; 0: there was no choice
    double score = 0;                   ///< of `scored`, nats
    bool finite = true;                 ///< false: there is no softmax, and nothing was picked
};

/// Allocates nothing once it is made.
class Picker {
  public:
    /// Of at most `rows` rows at once, by so many threads.
    Picker(int vocabulary, int rows, int threads);

    /// out: one per row.
    void run(AssayContext& context, const Loops& loops, std::span<const LogitRow> rows,
             std::span<PickedRow> out);

  private:
    void sum_up(const Loops& loops, const LogitRow& row, int index, int piece);
    void pick(const LogitRow& row, int index, std::span<int> room, PickedRow& out);
    std::span<SoftmaxPart> parts_of(std::vector<SoftmaxPart>& parts, int row) const;

    int vocabulary_, pieces_, threads_;
    std::vector<SoftmaxPart> parts_, sharpened_;  // [rows][pieces]: of all; of those allowed
    std::vector<float> scored_;                   // [rows]: the logit whose probability is wanted
    std::unique_ptr<int[]> room_;                 // [threads][vocabulary]
};

/// The id that `pick` finds among logits, −inf where one is not allowed, and ln of the probability
/// with which it was drawn. sharpened: of each softmax_piece of them, by sharpness_of(temperature),
/// at temperature 0 by any. room: to work in, as much as there are logits.
struct PickedId {
    int id = -1;
    double log_probability = 0;
};
PickedId pick_id(std::span<const float> logits, const Pick& pick,
                 std::span<const SoftmaxPart> sharpened, std::span<int> room);

constexpr int softmax_piece = 4096;  ///< logits of one part

/// 1/temperature, as a float never 0 nor infinite: −inf · 0 would be NaN.
float sharpness_of(double temperature);

/// ln of the sum of all exp(logit).
double log_sum(std::span<const SoftmaxPart> parts);

}  // namespace assay::decode
