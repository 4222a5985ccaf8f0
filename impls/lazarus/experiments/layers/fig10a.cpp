// Fig. 10a: forward throughput of one MoE layer whose load is skewed. Exact: how many rows the
// busiest rank computes and exchanges. Measured: the layer's forward pass on this processor, the
// reference for a GPU's.
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "impls/lazarus/experiments/experiments.hpp"
#include "impls/lazarus/experiments/layers/skewed_layer.hpp"
#include "impls/lazarus/policy/plan/placement.hpp"
#include "impls/lazarus/policy/rivals/expert_parallel.hpp"
#include "impls/lazarus/tensor_functions.hpp"
#include "impls/tensors/needs.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lazarus {

namespace {

// Of GPT-S, the paper's model with eight experts: ten nodes of six slots, groups of two.
constexpr int ranks = 10, slots = 6, min_replicas = 2, group = 2;
constexpr int experts = SkewedLayer::experts;
// A share of the tokens is a whole number of parts: the hot expert's 7·ratio, another's 8 - ratio.
constexpr int parts = experts * (experts - 1);
constexpr double value_bytes = 2;

Loads skewed_loads(std::int64_t ratio) {
    Loads loads(experts, experts - ratio);
    loads.back() = (experts - 1) * ratio;
    return loads;
}

// even: every rank's rows take the experts in exactly the loads' proportions. drawn: row by row by
// chance, as gates that do not know of each other.
std::vector<std::int64_t> choices_of_rank(const SampleSpec& spec, const Loads& loads, int rank) {
    const auto rows = integer_axis(spec, "tokens");
    std::vector<std::int64_t> choices;
    if (assay::to_string(spec.axes.at("routing")) == "even") {
        for (std::size_t e = 0; e < loads.size(); ++e)
            choices.insert(choices.end(), std::size_t(rows / parts * loads[e]), std::int64_t(e));
        return choices;
    }
    std::seed_seq seeds{spec.seed, std::uint64_t(rank)};
    std::mt19937_64 random(seeds);
    for (std::int64_t row = 0; row < rows; ++row) {
        auto part = static_cast<std::int64_t>(random() % parts);
        std::size_t expert = 0;
        while (part >= loads[expert]) part -= loads[expert++];
        choices.push_back(static_cast<std::int64_t>(expert));
    }
    return choices;
}

SkewedLayer layer_of(const SampleSpec& spec, std::int64_t ratio) {
    const Loads loads = skewed_loads(ratio);
    const bool fixed = spec.variant != "lazarus";
    SkewedLayer layer;
    layer.width = static_cast<int>(integer_axis(spec, "width"));
    if (spec.variant == "ds") layer.rule = DispatchRule::padded_in(group);
    layer.holders =
        fixed ? place_in_groups(ModelPlacement(1, Placement(ranks)), experts, group).front()
              : make_model_plan(std::vector<Loads>{loads}, ranks, slots, min_replicas,
                                PlacementPolicy::mro)
                    .placement.front();
    for (int rank = 0; rank < ranks; ++rank)
        layer.choices.push_back(choices_of_rank(spec, loads, rank));
    return layer;
}

struct Busiest {
    double computed = 0, exchanged = 0;  ///< rows, of the rank that has most
};

Busiest busiest_of(const SkewedLayer& layer) {
    const auto totals = make_dispatcher(layer.rule, layer.holders, experts)
                            ->totals(layer.tokens(), RankSites::apart(layer.ranks()));
    Busiest busiest;
    busiest.computed = *std::max_element(totals.computed.begin(), totals.computed.end());
    for (const auto& rank : totals.traffic)
        busiest.exchanged = std::max({busiest.exchanged, rank.sent.total(), rank.received.total()});
    return busiest;
}

void count(const SampleSpec& spec, Recorder& recorder) {
    const auto busiest = busiest_of(layer_of(spec, integer_axis(spec, "ratio")));
    const auto rows = static_cast<double>(integer_axis(spec, "tokens"));
    const auto width = static_cast<double>(integer_axis(spec, "width"));
    recorder.metric("busiest_rows", busiest.computed / rows);
    // There and back.
    recorder.metric("busiest_bytes", 2 * busiest.exchanged * width * value_bytes);
    recorder.metric("relative_throughput",
                    busiest_of(layer_of(spec, 1)).computed / busiest.computed);
}

void run(const SampleSpec& spec, Recorder& recorder) {
    if (spec.provenance == Provenance::exact) return count(spec, recorder);
    compute_in_tensors([&](const TensorFunctions& tensors) {
        const auto run_here =
            spec.profile == Profile::gpu ? tensors.run_fig10a_on_gpu : tensors.run_fig10a;
        run_here(layer_of(spec, 1), layer_of(spec, integer_axis(spec, "ratio")), recorder);
    });
}

std::optional<std::string> lacks(const SampleSpec& spec) {
    if (spec.provenance == Provenance::exact) return std::nullopt;
    if (auto reason = tensors::lacks(tensors::Needs::processes)) return reason;
#ifdef ASSAY_LAZARUS_LIVE
    if (spec.profile == Profile::gpu) return tensor_functions().gpu_layers_lack();
#endif
    return std::nullopt;
}

void validate(const SampleSpec& spec) {
    integer_axis(spec, "ratio", 1, experts);
    if (const auto width = integer_axis(spec, "width", 16, 4096); width % 16 != 0)
        throw UserError(fmt::format("axis width: {} is no multiple of 16", width));
    if (const auto rows = integer_axis(spec, "tokens", parts, 1 << 20); rows % parts != 0)
        throw UserError(fmt::format(
            "axis tokens: {} is no multiple of {}, of which every expert has a whole share", rows,
            parts));
}

MetricSpec metric(std::string name, std::string unit, std::string says, Direction better,
                  std::vector<Provenance> only) {
    const bool exact = only == std::vector{Provenance::exact};
    return {.name = std::move(name),
            .unit = std::move(unit),
            .says = std::move(says),
            .better = better,
            .deterministic = exact,
            .labels = {},
            .only = std::move(only)};
}

}  // namespace

Experiment fig10a() {
    using enum Provenance;
    Experiment e;
    e.id = "lazarus/fig10a";
    e.title = "Forward throughput of one layer under skewed loads";
    e.source = "arXiv 2407.04656v2, section 6.5, Fig. 10a";
    e.says =
        "One layer of eight experts on ten ranks; one expert gets `ratio` times its even share of "
        "the rows. lazarus: six slots per rank, replicas by load, un-padded exchange to any "
        "replica. ds: groups of two ranks that hold every expert once, every (source, expert) "
        "slice padded to the largest. ds_unpadded, ours: the holders of ds under the exchange of "
        "lazarus, which tells padding from placement. The paper does not say how many GPUs and "
        "tokens it had: ranks, slots and groups are those of GPT-S. Exact samples count the rows "
        "of the busiest rank. Measured ones compute the layer here, by the exchange and the "
        "experts of the live workers, ranks being threads: each phase (dispatch, experts, combine) "
        "lasts as long as the rank with the most processor time in it. Copies in memory stand for "
        "the network, so a processor understates what padding costs there. At profile gpu the "
        "ranks "
        "take turns on one GPU, in bf16: the dispatch kernel schedules for lazarus and "
        "ds_unpadded, the schedule of ds comes from the host and takes no time; copies in device "
        "memory stand for the network, and what a host must know of a schedule it knows.";
    e.axes = {
        {"ratio",
         "load of the hot expert, in even shares",
         {std::int64_t{1}, std::int64_t{2}, std::int64_t{4}, std::int64_t{6}, std::int64_t{8}},
         true},
        {"routing", "rows in exact proportions, or drawn one by one", {"even", "drawn"}},
        {"width", "of the model", {std::int64_t{256}}, true},
        {"tokens", "rows per rank, a multiple of 56", {std::int64_t{224}}, true}};
    e.variants = {"lazarus", "ds", "ds_unpadded"};
    e.metrics = {
        metric("relative_throughput", "ratio",
               "throughput over that at 1:1 of the same system; exact: by the busiest rank's rows",
               Direction::higher, {}),
        metric("busiest_rows", "ratio",
               "rows that the busiest rank computes, padding included, over its own tokens",
               Direction::lower, {exact}),
        metric("busiest_bytes", "B",
               "sent or received (what is more) by the rank with most, there and back, 16-bit",
               Direction::lower, {exact}),
        metric("tokens_per_s", "1/s", "of all ranks", Direction::higher, {measured}),
        metric("layer_s", "s", "dispatch, experts and combine, each of its slowest rank",
               Direction::lower, {measured}),
        metric("experts_s", "s", "experts, of the slowest rank", Direction::lower, {measured})};
    ProfilePlan toy;
    toy.provenances = {exact, measured};
    toy.rounds = 3;
    toy.seconds_of = {{exact, 0.1}, {measured, 2}};
    ProfilePlan small = toy;
    small.profile = Profile::small;
    small.axes = {{"width", {std::int64_t{1024}}}};
    small.rounds = 5;
    small.seconds_of = {{exact, 0.1}, {measured, 20}};
    // The paper's width; the first number of rows is small enough that launches are felt.
    ProfilePlan gpu = small;
    gpu.profile = Profile::gpu;
    gpu.provenances = {measured};
    gpu.axes = {{"width", {std::int64_t{1024}}},
                {"tokens", {std::int64_t{1792}, std::int64_t{7168}}}};
    gpu.rounds = 3;
    gpu.seconds_of = {{measured, 5}};
    e.profiles = {toy, small, gpu};
    e.figure = {.kind = Figure::Kind::lines,
                .metric = "relative_throughput",
                .x = "ratio",
                .panels = {"routing", "width", "tokens"},
                .x_title = "load of the hot expert (even shares)",
                .y_title = "throughput, relative to 1:1",
                .log_y = false};
    e.validate = validate;
    e.unsupported = lacks;
    e.run = run;
    return e;
}

}  // namespace assay::lazarus
