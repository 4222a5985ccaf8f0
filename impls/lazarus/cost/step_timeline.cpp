#include "impls/lazarus/cost/step_timeline.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "impls/lazarus/cost/pipelined_layer.hpp"
#include "impls/lazarus/cost/ranks_of_nodes.hpp"
#include "impls/lazarus/cost/step_operations.hpp"

namespace assay::lazarus {
namespace {

std::vector<std::vector<int>> different_experts(const ModelPlacement& holders) {
    std::vector<std::vector<int>> different;
    for (const Placement& layer : holders) {
        auto& held = different.emplace_back();
        for (const std::vector<int>& experts : layer) {
            int count = 0;
            for (std::size_t i = 0; i < experts.size(); ++i)
                count += i == 0 || experts[i] != experts[i - 1];
            held.push_back(count);
        }
    }
    return different;
}

/// Bytes [from][to] of a plan's rows.
std::vector<double> bytes_of(const DispatchPlan& plan, double row_bytes) {
    std::vector<double> bytes(nth(plan.ranks) * nth(plan.ranks), 0);
    for (int e = 0; e < plan.experts; ++e)
        for (int from = 0; from < plan.ranks; ++from)
            for (int to = 0; to < plan.ranks; ++to)
                bytes[nth(from) * nth(plan.ranks) + nth(to)] +=
                    static_cast<double>(plan.room(e, from, to)) * row_bytes;
    return bytes;
}

Exchange part_of(const Exchange& whole, double share) {
    Exchange part{whole.ranks, [pairs = whole.pairs, share] {
                      std::vector<double> bytes = pairs();
                      for (double& one : bytes) one *= share;
                      return bytes;
                  }};
    for (RankTraffic& rank : part.ranks) {
        rank.sent *= share;
        rank.received *= share;
    }
    return part;
}

}  // namespace

StepTimeline::StepTimeline(const CostModel& costs, const Modelling& modelling,
                           StepParticipants participants)
    : costs_(costs),
      modelling_(modelling),
      participants_(std::move(participants)),
      network_(network_of_workers(costs, participants_.devices, 1)),
      sites_(network_->topology().sites(static_cast<int>(participants_.devices.size()))),
      held_(different_experts(participants_.holders)),
      ranks_(static_cast<int>(participants_.devices.size())),
      scale_(modelling.layers_per_layer() * modelling.modelled_steps),
      rows_per_row_(modelling.model.rows() / modelling.real_tokens) {
    if (modelling.real_tokens <= 0 || modelling.real_layers < 1)
        throw std::logic_error("a modelling without real tokens or layers");
    if (!(modelling.overlap >= 0 && modelling.overlap <= 1))
        throw std::logic_error("an overlap outside 0 to 1");
    if (participants_.slowdowns.empty())
        participants_.slowdowns.assign(participants_.devices.size(), 1);
    if (ranks_ % modelling.gpus_per_worker != 0)
        throw std::logic_error("ranks that are no whole number of workers");
    activations_s_ = activations_s();
    for (int rank = 0; rank < ranks_; ++rank) attention_.push_back(scale_ * attention_s(rank));
    head_s_ = slowest_head_s();
}

// The first node's: another one's takes longer only where links differ.
double StepTimeline::activations_s() const {
    const int gpus = modelling_.gpus_per_worker;
    if (gpus == 1) return 0;
    const auto& model = modelling_.model;
    const double bytes = model.value_bytes * model.tokens() * gpus * model.width;
    std::vector<int> node(nth(gpus));
    std::iota(node.begin(), node.end(), 0);
    return 2 * network_->grouped_all_reduce(std::span(&bytes, 1), std::span(&node, 1), ranks_);
}

double StepTimeline::slowest(const std::vector<double>& seconds) const {
    return *std::max_element(seconds.begin(), seconds.end());
}

double StepTimeline::compute_s(int rank, const Operation& operation) const {
    return costs_.compute(participants_.devices[nth(rank)], operation,
                          participants_.slowdowns[nth(rank)]);
}

// With what every token passes besides: shared experts.
double StepTimeline::attention_s(int rank) const {
    const auto& model = modelling_.model;
    const int gpus = modelling_.gpus_per_worker;
    double seconds = compute_s(rank, attention_operation(model, gpus));
    if (const double shared = model.shared_experts; shared > 0)
        seconds +=
            compute_s(rank, experts_operation(model, shared / gpus, shared * model.tokens()));
    return seconds;
}

double StepTimeline::dense_layers_s(int rank) const {
    const auto& model = modelling_.model;
    if (model.dense_layers == 0) return 0;
    const int gpus = modelling_.gpus_per_worker;
    const double wide = model.top_k + model.shared_experts;
    return model.dense_layers *
           (compute_s(rank, attention_operation(model, gpus)) +
            compute_s(rank, experts_operation(model, wide / gpus, wide * model.tokens())));
}

void StepTimeline::counted(int layer, std::span<const Tokens> tokens) {
    if (layer != static_cast<int>(layers_.size()))
        throw std::logic_error("layers are counted in order");
    const auto& model = modelling_.model;
    const auto dispatcher =
        make_dispatcher(modelling_.dispatch, participants_.holders.at(nth(layer)), model.experts);
    auto totals = dispatcher->totals(tokens, sites_);
    const double row_bytes = rows_per_row_ * model.value_bytes * model.width;
    Exchange rows{std::move(totals.traffic), [&dispatcher, &tokens, row_bytes] {
                      DispatchPlan plan;
                      dispatcher->table(tokens, plan);
                      return bytes_of(plan, row_bytes);
                  }};
    for (RankTraffic& rank : rows.ranks) {
        rank.sent *= row_bytes;
        rank.received *= row_bytes;
    }

    std::vector<double> held(held_[nth(layer)].begin(), held_[nth(layer)].end());
    for (const WeightMove& move : totals.weights) ++held[nth(move.to)];

    Layer now;
    const double start = layers_.empty() ? 0 : layers_.back().back;
    const double activations = scale_ * activations_s_;
    const double counts = scale_ * network_->all_gather(8.0 * model.experts, ranks_);
    PartPrice whole = price_part(rows, held, totals.computed, 1);
    const double weights = weights_s(totals.weights, false);
    const double begin = start + slowest(attention_) + activations + counts;
    const double computing = slowest(whole.experts);
    now.exchanged = begin + whole.there + weights;
    now.back = now.exchanged + computing + whole.back;
    exchanges_ += activations + whole.there + whole.back + weights;
    exchanges_back_ += activations + whole.there + whole.back + weights_s(totals.weights, true);
    counting_ += counts;
    compute_ += slowest(attention_) + computing;
    now.experts = whole.experts;
    pipeline(now, begin, rows, held, totals.computed, whole);
    layers_.push_back(std::move(now));
}

StepTimeline::PartPrice StepTimeline::price_part(const Exchange& rows, std::span<const double> held,
                                                 std::span<const double> computed,
                                                 int parts) const {
    const Exchange part = parts == 1 ? rows : part_of(rows, 1.0 / parts);
    PartPrice price{.there = scale_ * network_->all_to_all(part),
                    .back = scale_ * network_->all_to_all(reversed(part)),
                    .experts = {}};
    for (int rank = 0; rank < ranks_; ++rank) {
        const double rows_here = computed[nth(rank)] * rows_per_row_ / parts;
        price.experts.push_back(
            scale_ *
            compute_s(rank, experts_operation(modelling_.model, held[nth(rank)], rows_here)));
    }
    return price;
}

void StepTimeline::pipeline(Layer& layer, double begin, const Exchange& rows,
                            std::span<const double> held, std::span<const double> computed,
                            const PartPrice& whole) {
    const auto passes = [&](int parts, const PartPrice& price) {
        const double experts = slowest(price.experts);
        return std::pair(
            pipelined_layer(parts, {price.there, experts, price.back}),
            pipelined_layer(parts, {price.there, backward_over_forward * experts, price.back}));
    };
    const auto [forward, backward] = passes(1, whole);
    double best = forward.combined + backward.combined, saved = 0, saved_back = 0;
    for (int parts = 2; parts <= modelling_.dispatch.pipeline; parts *= 2) {
        const PartPrice price = price_part(rows, held, computed, parts);
        const auto [there, back] = passes(parts, price);
        if (there.combined + back.combined >= best) continue;
        best = there.combined + back.combined;
        saved = forward.combined - there.combined;
        saved_back = backward.combined - back.combined;
        layer.exchanged = begin + there.dispatched;
        layer.back = begin + there.combined;
        for (int rank = 0; rank < ranks_; ++rank) {
            const double experts = price.experts[nth(rank)];
            layer.experts[nth(rank)] =
                pipelined_layer(parts, {price.there, experts, price.back}).computed -
                there.dispatched;
        }
    }
    pipelined_ += saved;
    pipelined_back_ += saved_back;
}

double StepTimeline::weights_s(std::span<const WeightMove> moves, bool back) const {
    if (moves.empty()) return 0;
    const double bytes = modelling_.model.value_bytes * modelling_.model.expert_parameters();
    std::vector<RankTraffic> ranks(nth(ranks_));
    for (const WeightMove& move : moves) add_message(ranks, sites_, move.from, move.to, bytes);
    const Exchange weights{std::move(ranks), [moves, bytes, this] {
                               std::vector<double> pairs(nth(ranks_) * nth(ranks_), 0);
                               for (const WeightMove& move : moves)
                                   pairs[nth(move.from) * nth(ranks_) + nth(move.to)] += bytes;
                               return pairs;
                           }};
    return scale_ * network_->all_to_all(back ? reversed(weights) : weights);
}

double StepTimeline::attention_done(int layer, int rank) const {
    return (layer == 0 ? 0 : combined(layer - 1)) + attention_[nth(rank)];
}
double StepTimeline::dispatched(int layer) const { return layers_.at(nth(layer)).exchanged; }
double StepTimeline::computed(int layer, int rank) const {
    const auto& l = layers_.at(nth(layer));
    return l.exchanged + l.experts[nth(rank)];
}
double StepTimeline::combined(int layer) const { return layers_.at(nth(layer)).back; }

double StepTimeline::head_s(int rank) const {
    return modelling_.modelled_steps *
           (compute_s(rank, head_operation(modelling_.model, modelling_.gpus_per_worker)) +
            dense_layers_s(rank));
}

double StepTimeline::slowest_head_s() const {
    double slowest = 0;
    for (int rank = 0; rank < ranks_; ++rank) slowest = std::max(slowest, head_s(rank));
    return slowest;
}

double StepTimeline::forward_done() const { return layers_.back().back + head_s_; }

double StepTimeline::backward_compute_s() const {
    const double head = forward_done() - layers_.back().back;
    return backward_over_forward * (compute_ + head);
}

double StepTimeline::backward_done() const {
    return forward_done() + backward_compute_s() + exchanges_back_ - pipelined_back_;
}

double StepTimeline::updates_per_real_step() const {
    return double(modelling_.modelled_steps) / modelling_.accumulation;
}

// All real layers at once, as the trainer does it.
double StepTimeline::reduction_s() const {
    const auto& model = modelling_.model;
    const double per_layer = modelling_.layers_per_layer();
    const int gpus = modelling_.gpus_per_worker;
    std::vector<double> bytes(nth(gpus), model.value_bytes * model.dense_parameters() / gpus);
    std::vector<std::vector<int>> groups(nth(gpus));
    for (int rank = 0; rank < ranks_; ++rank) groups[nth(rank % gpus)].push_back(rank);
    for (const auto& holders : participants_.holders) {
        std::vector<std::vector<int>> of_expert(nth(model.experts));
        for (int rank = 0; rank < ranks_; ++rank)
            for (int expert : holders[nth(rank)])
                if (of_expert[nth(expert)].empty() || of_expert[nth(expert)].back() != rank)
                    of_expert[nth(expert)].push_back(rank);
        for (auto& ranks : of_expert) {
            if (ranks.size() < 2) continue;
            bytes.push_back(per_layer * model.value_bytes * model.expert_parameters());
            groups.push_back(std::move(ranks));
        }
    }
    return updates_per_real_step() * network_->grouped_all_reduce(bytes, groups, ranks_);
}

double StepTimeline::optimizer_s(int rank) const {
    const auto& model = modelling_.model;
    double experts = 0;
    for (const auto& held : held_) experts += held[nth(rank)] * modelling_.layers_per_layer();
    const double parameters =
        model.dense_parameters() / modelling_.gpus_per_worker + experts * model.expert_parameters();
    return updates_per_real_step() * compute_s(rank, optimizer_operation(parameters));
}

double StepTimeline::slowest_optimizer_s() const {
    double slowest = 0;
    for (int rank = 0; rank < ranks_; ++rank) slowest = std::max(slowest, optimizer_s(rank));
    return slowest;
}

double StepTimeline::hidden_s(double sums_s) const {
    const double beside_nothing =
        (backward_compute_s() - pipelined_back_) / modelling_.accumulation;
    return modelling_.overlap * std::min(sums_s, beside_nothing);
}

double StepTimeline::total() const {
    const double sums = reduction_s();
    return backward_done() + (sums - hidden_s(sums)) + slowest_optimizer_s();
}

StepParts StepTimeline::parts() const {
    const double sums = reduction_s();
    return {.forward_compute_s = compute_ + slowest_head_s(),
            .backward_compute_s = backward_compute_s(),
            .exchange_s = counting_ + exchanges_ + exchanges_back_,
            .sums_s = sums,
            .hidden_s = hidden_s(sums),
            .optimizer_s = slowest_optimizer_s(),
            .pipelined_s = pipelined_ + pipelined_back_};
}

}  // namespace assay::lazarus
