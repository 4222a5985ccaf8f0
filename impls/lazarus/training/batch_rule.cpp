#include "impls/lazarus/training/batch_rule.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace assay::lazarus {
namespace {

// Part `i` of `parts` that are as equal as they can be.
MicroBatch part_of(const MicroBatch& whole, std::int64_t parts, std::int64_t i) {
    const std::int64_t begin = whole.sequences * i / parts;
    return {whole.first + begin, whole.sequences * (i + 1) / parts - begin};
}

}  // namespace

std::int64_t global_sequences(const BatchRule& rule, int sequences, int ranks) {
    const bool keeps = rule.batch == BatchRule::Batch::keep;
    return std::int64_t{sequences} * (keeps ? std::max(rule.full_workers, ranks) : ranks);
}

std::vector<MicroBatch> micro_batches(const BatchRule& rule, int sequences, int ranks, int rank) {
    const MicroBatch global{0, global_sequences(rule, sequences, ranks)};
    const std::int64_t largest = (global.sequences + ranks - 1) / ranks;
    const std::int64_t passes = (largest + sequences - 1) / sequences;
    if (global.sequences / ranks < passes)
        throw std::invalid_argument("a batch can be kept from two sequences per worker on");
    const MicroBatch mine = part_of(global, ranks, rank);
    std::vector<MicroBatch> parts;
    for (std::int64_t pass = 0; pass < passes; ++pass) parts.push_back(part_of(mine, passes, pass));
    return parts;
}

double learning_rate(const BatchRule& rule, double full, int ranks) {
    if (rule.rate == BatchRule::Rate::keep) return full;
    const double left = static_cast<double>(ranks) / rule.full_workers;
    return full * (rule.rate == BatchRule::Rate::linear ? left : std::sqrt(left));
}

}  // namespace assay::lazarus
