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
#include "suite/base/error.hpp"
#include "suite/experiment/declaration.hpp"

namespace assay::lazarus {
namespace {

// Of GPT-S, the paper's model with eight experts: ten nodes of six slots, groups of two.
constexpr int ranks = 10, slots = 6, min_replicas = 2, group = 2;
constexpr int experts = SkewedLayer::experts;
// A share of the tokens is a whole number of parts: the hot expert's 7·ratio, another's 8 - ratio.
constexpr int parts = experts * (experts - 1);
constexpr double value_bytes = 2;

enum class Routing { even, drawn };
ASSAY_NAMES(Routing, even, drawn)
enum class System { lazarus, ds, ds_unpadded };
ASSAY_NAMES(System, lazarus, ds, ds_unpadded)

struct Fig10a {
    int ratio = 0, width = 256;
    Routing routing{};
    std::int64_t tokens = 224;
    System system{};
    Profile profile{};
    Provenance provenance{};
    std::uint64_t seed = 0;
};

Loads skewed_loads(std::int64_t ratio) {
    Loads loads(experts, experts - ratio);
    loads.back() = (experts - 1) * ratio;
    return loads;
}

// even: every rank's rows take the experts in exactly the loads' proportions. drawn: row by row by
// chance, as gates that do not know of each other.
std::vector<std::int64_t> choices_of_rank(const Fig10a& fig10a, const Loads& loads, int rank) {
    std::vector<std::int64_t> choices;
    if (fig10a.routing == Routing::even) {
        for (std::size_t e = 0; e < loads.size(); ++e)
            choices.insert(choices.end(), std::size_t(fig10a.tokens / parts * loads[e]),
                           std::int64_t(e));
        return choices;
    }
    std::seed_seq seeds{fig10a.seed, std::uint64_t(rank)};
    std::mt19937_64 random(seeds);
    for (std::int64_t row = 0; row < fig10a.tokens; ++row) {
        auto part = static_cast<std::int64_t>(random() % parts);
        std::size_t expert = 0;
        while (part >= loads[expert]) part -= loads[expert++];
        choices.push_back(static_cast<std::int64_t>(expert));
    }
    return choices;
}

SkewedLayer layer_of(const Fig10a& fig10a, std::int64_t ratio) {
    const Loads loads = skewed_loads(ratio);
    SkewedLayer layer;
    layer.width = fig10a.width;
    if (fig10a.system == System::ds) layer.rule = DispatchRule::padded_in(group);
    layer.holders =
        fig10a.system == System::lazarus
            ? make_model_plan(std::vector<Loads>{loads}, ranks, slots, min_replicas,
                              PlacementPolicy::mro)
                  .placement.front()
            : place_in_groups(ModelPlacement(1, Placement(ranks)), experts, group).front();
    for (int rank = 0; rank < ranks; ++rank)
        layer.choices.push_back(choices_of_rank(fig10a, loads, rank));
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

void count(const Fig10a& fig10a, Recorder& recorder) {
    const LayerFound found(recorder);
    const auto busiest = busiest_of(layer_of(fig10a, fig10a.ratio));
    found.busiest_rows(busiest.computed / static_cast<double>(fig10a.tokens));
    // There and back.
    found.busiest_bytes(2 * busiest.exchanged * fig10a.width * value_bytes);
    found.relative_throughput(busiest_of(layer_of(fig10a, 1)).computed / busiest.computed);
}

void run(const Fig10a& fig10a, Recorder& recorder) {
    if (fig10a.provenance == Provenance::exact) return count(fig10a, recorder);
    const auto& compute = fig10a.profile == Profile::gpu ? compute_layers_on_gpu : compute_layers;
    compute(layer_of(fig10a, 1), layer_of(fig10a, fig10a.ratio), recorder);
}

std::optional<std::string> lacks(const Fig10a& fig10a) {
    if (fig10a.provenance == Provenance::exact) return std::nullopt;
    if (auto reason = compute_layers.lacks()) return reason;
    return fig10a.profile == Profile::gpu ? gpu_layers_lack() : std::nullopt;
}

void check(const Fig10a& fig10a) {
    if (fig10a.width % 16 != 0)
        throw UserError(fmt::format("axis width: {} is no multiple of 16", fig10a.width));
    if (fig10a.tokens % parts != 0)
        throw UserError(fmt::format(
            "axis tokens: {} is no multiple of {}, of which every expert has a whole share",
            fig10a.tokens, parts));
}

std::vector<ProfilePlan> profiles() {
    using enum Provenance;
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
    return {toy, small, gpu};
}

}  // namespace

Experiment fig10a() {
    Declaration<Fig10a> fig10a(
        {.id = "lazarus/fig10a",
         .title = "Forward throughput of one layer under skewed loads",
         .source = "arXiv 2407.04656v2, section 6.5, Fig. 10a",
         .says =
             "One layer of eight experts on ten ranks; one expert gets `ratio` times its even "
             "share of the rows. lazarus: six slots per rank, replicas by load, un-padded exchange "
             "to any replica. ds: groups of two ranks that hold every expert once, every (source, "
             "expert) slice padded to the largest. ds_unpadded, ours: the holders of ds under the "
             "exchange of lazarus, which tells padding from placement. The paper does not say how "
             "many GPUs and tokens it had: ranks, slots and groups are those of GPT-S. Exact "
             "samples count the rows of the busiest rank. Measured ones compute the layer here, by "
             "the exchange and the experts of the live workers, ranks being threads: each phase "
             "(dispatch, experts, combine) lasts as long as the rank with the most processor time "
             "in it. Copies in memory stand for the network, so a processor understates what "
             "padding costs there. At profile gpu the ranks take turns on one GPU, in bf16: the "
             "dispatch kernel schedules for lazarus and ds_unpadded, the schedule of ds comes from "
             "the host and takes no time; copies in device memory stand for the network, and what "
             "a host must know of a schedule it knows.",
         .metrics = declared<LayerFound>(),
         .profiles = profiles(),
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "relative_throughput",
                    .x = "ratio",
                    .panels = {"routing", "width", "tokens"},
                    .x_title = "load of the hot expert (even shares)",
                    .y_title = "throughput, relative to 1:1"}});
    fig10a.axis("ratio", &Fig10a::ratio, "load of the hot expert, in even shares", {1, 2, 4, 6, 8},
                between(1, experts));
    fig10a.axis("routing", &Fig10a::routing, "rows in exact proportions, or drawn one by one");
    fig10a.axis("width", &Fig10a::width, "of the model", between(16, 4096));
    fig10a.axis("tokens", &Fig10a::tokens, "rows per rank, a multiple of 56",
                between(parts, 1 << 20));
    fig10a.variants(&Fig10a::system);
    fig10a.given(&Fig10a::profile, &SampleSpec::profile);
    fig10a.given(&Fig10a::provenance, &SampleSpec::provenance);
    fig10a.given(&Fig10a::seed, &SampleSpec::seed);
    fig10a.check(check);
    fig10a.unsupported(lacks);
    return fig10a.runs(run);
}

}  // namespace assay::lazarus
