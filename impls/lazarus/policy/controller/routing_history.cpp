#include "impls/lazarus/policy/controller/routing_history.hpp"

#include <fmt/format.h>

namespace assay::lazarus {

RoutingHistory::RoutingHistory(int layers, int experts)
    : blank_(static_cast<std::size_t>(layers), Loads(static_cast<std::size_t>(experts), 0)),
      window_(blank_),
      last_used_(blank_) {}

std::string RoutingHistory::fault_in(const std::vector<Loads>& loads) const {
    if (loads.size() != blank_.size())
        return fmt::format("{} layers instead of {}", loads.size(), blank_.size());
    for (std::size_t layer = 0; layer < loads.size(); ++layer) {
        if (loads[layer].size() != blank_[layer].size())
            return fmt::format("{} experts instead of {} in layer {}", loads[layer].size(),
                               blank_[layer].size(), layer);
        for (std::size_t expert = 0; expert < loads[layer].size(); ++expert) {
            if (loads[layer][expert] < 0)
                return fmt::format("{} tokens for expert {} of layer {}", loads[layer][expert],
                                   expert, layer);
        }
    }
    return {};
}

void RoutingHistory::add(const std::vector<Loads>& loads) {
    for (std::size_t layer = 0; layer < loads.size(); ++layer) {
        for (std::size_t expert = 0; expert < loads[layer].size(); ++expert)
            window_[layer][expert] += loads[layer][expert];
    }
    ++steps_;
}

const std::vector<Loads>& RoutingHistory::loads_for_plan() {
    if (steps_ > 0) last_used_ = window_;
    return last_used_;
}

void RoutingHistory::use_window() {
    loads_for_plan();
    window_ = blank_;
    steps_ = 0;
}

void RoutingHistory::clear() {
    last_used_ = window_ = blank_;
    steps_ = 0;
}

}  // namespace assay::lazarus
