#include "impls/lazarus/data/routing_replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <mutex>
#include <numeric>
#include <string>

#include "impls/lazarus/data/routing_trace.hpp"
#include "impls/lazarus/data/synthetic_routing.hpp"
#include "impls/nn/hashes.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

__extension__ using Wide = unsigned __int128;

std::shared_ptr<const RoutingTrace> shared_trace(const std::string& file) {
    static std::mutex mutex;
    static std::map<std::string, std::weak_ptr<const RoutingTrace>> traces;
    std::lock_guard lock(mutex);
    if (auto trace = traces[file].lock()) return trace;
    auto trace = std::make_shared<const RoutingTrace>(read_routing_trace(file));
    traces[file] = trace;
    return trace;
}

}  // namespace

StepRouting::StepRouting(std::uint64_t seed, std::int64_t step, const std::vector<Loads>& loads)
    : key_(nn::counter_hash(nn::counter_hash(seed) + static_cast<std::uint64_t>(step))) {
    for (const auto& layer : loads) {
        auto& sums = cumulative_.emplace_back(layer.size());
        std::partial_sum(layer.begin(), layer.end(), sums.begin());
        if (sums.empty() || sums.back() == 0) {
            throw UserError(fmt::format(
                "layer {} of the routing trace has no tokens for the model's experts at step {}",
                cumulative_.size() - 1, step));
        }
    }
}

std::vector<std::int64_t> StepRouting::choices(int layer, std::int64_t first_row,
                                               std::int64_t rows) const {
    const auto& sums = cumulative_.at(static_cast<std::size_t>(layer));
    // A few real rows stand for thousands of modelled ones, whose counts stray little from the
    // shares. So rows take the points of a sequence that fills the interval evenly (multiples of
    // the golden ratio), from a start drawn for the step and layer, not independent draws.
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15ULL;
    const auto start = nn::counter_hash(key_ + static_cast<std::uint64_t>(layer));
    std::vector<std::int64_t> experts;
    for (std::int64_t row = first_row; row < first_row + rows; ++row) {
        const auto draw = start + golden * static_cast<std::uint64_t>(row);
        // The upper word of the product: a token between 0 and the sum.
        const auto token =
            static_cast<Tokens>((static_cast<Wide>(draw) * static_cast<Wide>(sums.back())) >> 64);
        experts.push_back(std::upper_bound(sums.begin(), sums.end(), token) - sums.begin());
    }
    return experts;
}

std::vector<Tokens> StepRouting::counts(int layer, int ranks, std::int64_t rows) const {
    const auto experts = cumulative_.at(static_cast<std::size_t>(layer)).size();
    std::vector<Tokens> tokens(experts * static_cast<std::size_t>(ranks), 0);
    constexpr std::int64_t most_single_rows = 4096;
    if (rows > most_single_rows) {
        const auto& sums = cumulative_[static_cast<std::size_t>(layer)];
        for (int rank = 0; rank < ranks; ++rank) {
            const auto draw =
                nn::counter_hash(nn::counter_hash(key_ + static_cast<std::uint64_t>(layer)) +
                                 static_cast<std::uint64_t>(rank));
            const double start = static_cast<double>(draw >> 11) * 0x1p-53;
            // Rows are the points start, start + 1, … of an interval as long as there are rows.
            std::int64_t before = 0;
            for (std::size_t expert = 0; expert < experts; ++expert) {
                const double end = static_cast<double>(sums[expert]) /
                                   static_cast<double>(sums.back()) * static_cast<double>(rows);
                const auto until = static_cast<std::int64_t>(std::ceil(end - start));
                tokens[expert * static_cast<std::size_t>(ranks) + static_cast<std::size_t>(rank)] =
                    until - before;
                before = until;
            }
        }
        return tokens;
    }
    for (int rank = 0; rank < ranks; ++rank)
        for (const auto expert : choices(layer, rank * rows, rows))
            ++tokens[static_cast<std::size_t>(expert) * static_cast<std::size_t>(ranks) +
                     static_cast<std::size_t>(rank)];
    return tokens;
}

RoutingReplay::RoutingReplay(const RoutingSource& source)
    : seed_(source.seed),
      modelled_steps_(source.modelled_steps),
      layers_(source.layers),
      experts_(source.experts) {
    if (modelled_steps_ < 1)
        throw UserError(fmt::format("modelled_steps is {}: at least 1", modelled_steps_));
    constexpr std::string_view lognormal = "lognormal:";
    if (source.trace.starts_with(lognormal)) {
        const std::string skew = source.trace.substr(lognormal.size());
        char* end = nullptr;
        skew_ = std::strtod(skew.c_str(), &end);
        if (skew.empty() || *end != 0)
            throw UserError(
                fmt::format("routing '{}': write lognormal:SKEW, as lognormal:0.5", source.trace));
    } else if (source.trace != "synthetic") {
        trace_ = shared_trace(source.trace);
    }
    at(0);  // what the trace lacks is told before the training starts
}

std::int64_t RoutingReplay::iteration_at(std::int64_t step) const {
    const auto iteration = step * modelled_steps_ + 1;
    if (skew_) return iteration - (iteration - 1) % steps_of_lognormal_routing;
    return trace_ ? trace_->nearest_before(iteration) : iteration;
}

std::vector<Loads> RoutingReplay::loads(std::int64_t iteration) const {
    if (skew_) return lognormal_routing(seed_, iteration, layers_, experts_, *skew_);
    auto all =
        trace_ ? trace_->at(iteration, layers_) : drifting_routing(seed_, iteration, layers_);
    for (auto& layer : all) layer = most_loaded(layer, experts_);
    return all;
}

StepRouting RoutingReplay::at(std::int64_t step) const {
    const auto iteration = iteration_at(step);
    const auto first_step = (iteration - 1 + modelled_steps_ - 1) / modelled_steps_;
    return {seed_, first_step, loads(iteration)};
}

}  // namespace assay::lazarus
