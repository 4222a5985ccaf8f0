#include "impls/lazarus/cost/step_timeline.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "impls/lazarus/cost/step_operations.hpp"
#include "impls/lazarus/policy/rivals/expert_parallel.hpp"

namespace assay::lazarus {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// The plan that the trainer exchanges by.
DispatchPlan dispatch_plan(std::span<const Tokens> tokens, const Placement& holders, int experts,
                           int group) {
    DispatchPlan plan;
    if (group > 0)
        plan_padded_dispatch(tokens, ExpertGroups(holders, experts, group), plan);
    else
        plan_dispatch(tokens, replica_counts(holders, experts), experts,
                      static_cast<int>(holders.size()), plan);
    return plan;
}

}  // namespace

LayerTraffic layer_traffic(std::span<const Tokens> tokens, const Placement& holders, int experts,
                           int group) {
    const auto plan = dispatch_plan(tokens, holders, experts, group);
    LayerTraffic traffic;
    traffic.rows.assign(at(plan.ranks), 0);
    traffic.bytes.assign(at(plan.ranks) * at(plan.ranks), 0);
    for (int expert = 0; expert < experts; ++expert) {
        for (int from = 0; from < plan.ranks; ++from) {
            for (int to = 0; to < plan.ranks; ++to) {
                const auto rows = static_cast<double>(plan.room(expert, from, to));
                traffic.rows[at(to)] += rows;
                traffic.bytes[at(from) * at(plan.ranks) + at(to)] += rows;
            }
        }
    }
    return traffic;
}

StepTimeline::StepTimeline(const CostModel& costs, const Modelling& modelling,
                           StepParticipants participants)
    : costs_(costs),
      modelling_(modelling),
      participants_(std::move(participants)),
      ranks_(static_cast<int>(participants_.devices.size())),
      scale_(modelling.layers_per_layer() * modelling.modelled_steps),
      rows_per_token_(modelling.model.tokens() / modelling.real_tokens) {
    if (modelling.real_tokens <= 0 || modelling.real_layers < 1)
        throw std::logic_error("a modelling without real tokens or layers");
    if (!(modelling.overlap >= 0 && modelling.overlap <= 1))
        throw std::logic_error("an overlap outside 0 to 1");
    if (participants_.slowdowns.empty())
        participants_.slowdowns.assign(participants_.devices.size(), 1);
}

double StepTimeline::slowest(const std::vector<double>& seconds) const {
    return *std::max_element(seconds.begin(), seconds.end());
}

double StepTimeline::compute_s(int rank, const Operation& operation) const {
    return costs_.compute(participants_.devices[at(rank)], operation,
                          participants_.slowdowns[at(rank)]);
}

double StepTimeline::attention_s(int rank) const {
    return compute_s(rank, attention_operation(modelling_.model));
}

void StepTimeline::counted(int layer, std::span<const Tokens> tokens) {
    if (layer != static_cast<int>(layers_.size()))
        throw std::logic_error("layers are counted in order");
    const auto& model = modelling_.model;
    const auto& holders = participants_.holders.at(at(layer));
    auto traffic = layer_traffic(tokens, holders, model.experts, modelling_.group);
    const double row_bytes = model.value_bytes * model.width;
    for (double& rows : traffic.bytes) rows *= rows_per_token_ * row_bytes;

    Layer now;
    now.start = layers_.empty() ? 0 : layers_.back().back;
    for (int rank = 0; rank < ranks_; ++rank) {
        now.attention.push_back(scale_ * attention_s(rank));
        auto held = holders[at(rank)];
        held.erase(std::unique(held.begin(), held.end()), held.end());
        const double rows = traffic.rows[at(rank)] * rows_per_token_;
        now.experts.push_back(scale_ *
                              compute_s(rank, experts_operation(model, double(held.size()), rows)));
    }
    const double counts = scale_ * costs_.all_gather(8.0 * model.experts, ranks_);
    const double there = scale_ * costs_.all_to_all(traffic.bytes, ranks_);
    std::vector<double> transposed(traffic.bytes.size());
    for (int from = 0; from < ranks_; ++from)
        for (int to = 0; to < ranks_; ++to)
            transposed[at(to) * at(ranks_) + at(from)] =
                traffic.bytes[at(from) * at(ranks_) + at(to)];
    const double back = scale_ * costs_.all_to_all(transposed, ranks_);
    now.exchanged = now.start + slowest(now.attention) + counts + there;
    now.back = now.exchanged + slowest(now.experts) + back;
    exchanges_ += there + back;
    counting_ += counts;
    compute_ += slowest(now.attention) + slowest(now.experts);
    layers_.push_back(std::move(now));
}

double StepTimeline::attention_done(int layer, int rank) const {
    return (layer == 0 ? 0 : combined(layer - 1)) + scale_ * attention_s(rank);
}
double StepTimeline::dispatched(int layer) const { return layers_.at(at(layer)).exchanged; }
double StepTimeline::computed(int layer, int rank) const {
    const auto& l = layers_.at(at(layer));
    return l.exchanged + l.experts[at(rank)];
}
double StepTimeline::combined(int layer) const { return layers_.at(at(layer)).back; }

double StepTimeline::head_s(int rank) const {
    return modelling_.modelled_steps * compute_s(rank, head_operation(modelling_.model));
}

double StepTimeline::slowest_head_s() const {
    double slowest = 0;
    for (int rank = 0; rank < ranks_; ++rank) slowest = std::max(slowest, head_s(rank));
    return slowest;
}

double StepTimeline::forward_done() const { return layers_.back().back + slowest_head_s(); }

double StepTimeline::backward_compute_s() const {
    const double head = forward_done() - layers_.back().back;
    return backward_over_forward * (compute_ + head);
}

double StepTimeline::backward_done() const {
    return forward_done() + backward_compute_s() + exchanges_;
}

double StepTimeline::updates_per_real_step() const {
    return double(modelling_.modelled_steps) / modelling_.accumulation;
}

// All real layers at once, as the trainer does it.
double StepTimeline::reduction_s() const {
    const auto& model = modelling_.model;
    const double per_layer = modelling_.layers_per_layer();
    std::vector<double> bytes;
    std::vector<std::vector<int>> groups;
    std::vector<int> everyone(at(ranks_));
    for (int rank = 0; rank < ranks_; ++rank) everyone[at(rank)] = rank;
    bytes.push_back(model.value_bytes * model.dense_parameters());
    groups.push_back(everyone);
    for (const auto& holders : participants_.holders) {
        std::map<int, std::vector<int>> of_expert;
        for (int rank = 0; rank < ranks_; ++rank)
            for (int expert : holders[at(rank)])
                if (of_expert[expert].empty() || of_expert[expert].back() != rank)
                    of_expert[expert].push_back(rank);
        for (auto& [expert, ranks] : of_expert) {
            if (ranks.size() < 2) continue;
            bytes.push_back(per_layer * model.value_bytes * model.expert_parameters());
            groups.push_back(std::move(ranks));
        }
    }
    return updates_per_real_step() * costs_.grouped_all_reduce(bytes, groups, ranks_);
}

double StepTimeline::optimizer_s(int rank) const {
    const auto& model = modelling_.model;
    double experts = 0;
    for (const auto& holders : participants_.holders) {
        auto held = holders[at(rank)];
        held.erase(std::unique(held.begin(), held.end()), held.end());
        experts += double(held.size()) * modelling_.layers_per_layer();
    }
    const double parameters = model.dense_parameters() + experts * model.expert_parameters();
    return updates_per_real_step() * compute_s(rank, optimizer_operation(parameters));
}

double StepTimeline::slowest_optimizer_s() const {
    double slowest = 0;
    for (int rank = 0; rank < ranks_; ++rank) slowest = std::max(slowest, optimizer_s(rank));
    return slowest;
}

double StepTimeline::hidden_s(double sums_s) const {
    return modelling_.overlap * std::min(sums_s, backward_compute_s() / modelling_.accumulation);
}

double StepTimeline::total() const {
    const double sums = reduction_s();
    return backward_done() + (sums - hidden_s(sums)) + slowest_optimizer_s();
}

StepParts StepTimeline::parts() const {
    const double sums = reduction_s();
    return {.forward_compute_s = compute_ + slowest_head_s(),
            .backward_compute_s = backward_compute_s(),
            .exchange_s = counting_ + 2 * exchanges_,
            .sums_s = sums,
            .hidden_s = hidden_s(sums),
            .optimizer_s = slowest_optimizer_s()};
}

}  // namespace assay::lazarus
