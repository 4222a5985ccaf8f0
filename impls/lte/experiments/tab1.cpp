// Table 1: FLOPs per token of LLaMA-7B, and the sparsities that the printed ones imply.
#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "impls/lte/decode_plan.hpp"
#include "impls/lte/experiments/experiments.hpp"
#include "impls/model/decode_cost.hpp"
#include "impls/model/named_models.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lte {
namespace {

/// GFLOPs per token as Table 1 prints them; no entry: it prints that the allowed loss of quality is
/// never met.
const std::map<std::pair<std::string, std::string>, double>& printed() {
    static const std::map<std::pair<std::string, std::string>, double> table{
        {{"deja_vu", "xsum"}, 7.92},
        {{"deja_vu", "e2e"}, 6.42},
        {{"deja_vu", "wikitext103"}, 7.92},
        {{"moefication", "xsum"}, 10.45},
        {{"relullama_moefication", "xsum"}, 8.27},
        {{"relullama_moefication", "e2e"}, 7.39},
        {{"relullama_moefication", "wikitext103"}, 11.1},
        {{"lte", "xsum"}, 5.38},
        {{"lte", "e2e"}, 4.65},
        {{"lte", "wikitext103"}, 6.59}};
    return table;
}

std::optional<double> printed_gflops(const SampleSpec& spec) {
    const auto found = printed().find({spec.variant, to_string(spec.axes.at("dataset"))});
    if (found == printed().end()) return std::nullopt;
    return found->second;
}

std::optional<std::string> not_in_table(const SampleSpec& spec) {
    if (spec.variant == "full" || printed_gflops(spec)) return std::nullopt;
    return fmt::format("Table 1 has no entry for {} on {}", spec.variant,
                       to_string(spec.axes.at("dataset")));
}

void run(const SampleSpec& spec, Recorder& recorder) {
    const nn::DecoderConfig llama = model::named_shape("llama-7b");
    const double full = model::token_flops(llama).total();
    // Only LTE's numbers contain its routers (section 5.2); the rivals' predictors are not counted.
    const int routed = spec.variant == "lte" ? experts_per_layer(llama) : 0;
    double sparsity = 0;
    if (const auto gflops = printed_gflops(spec))
        sparsity = model::implied_sparsity(llama, *gflops * model::gibiflop, routed);
    const model::TokenFlops flops = model::token_flops(llama, sparsity, routed);
    recorder.metric("gflops", flops.total() / model::gibiflop);
    recorder.metric("ratio", full / flops.total());
    recorder.metric("ffn_sparsity", sparsity);
    const model::TokenFlops whole = model::token_flops(llama, 0, routed);
    recorder.metric("router_cost", whole.router / whole.ffn);
    for (const auto& [part, value] :
         {std::pair{"ffn", flops.ffn}, {"attention", flops.attention}, {"router", flops.router}}) {
        recorder.metric("part_gflops", value / model::gibiflop, {{"part", std::string(part)}});
        recorder.metric("part_share", value / flops.total(), {{"part", std::string(part)}});
    }
}

std::vector<MetricSpec> metrics() {
    return {
        {"gflops", "2^30 FLOP", "per token, without the output projection", Direction::lower, true},
        {"ratio", "ratio", "FLOPs of the full model over these", Direction::higher, true},
        {"ffn_sparsity", "share", "of the feed-forward networks left out", Direction::higher, true},
        {"router_cost", "ratio", "FLOPs of the routers over those of dense networks",
         Direction::lower, true},
        {"part_gflops", "2^30 FLOP", "per token", Direction::lower, true, {"part"}},
        {"part_share", "share", "of this variant's FLOPs", Direction::none, true, {"part"}}};
}

}  // namespace

Experiment tab1() {
    Experiment experiment;
    experiment.id = "lte/tab1";
    experiment.title = "FLOPs per token of LLaMA-7B";
    experiment.source = "arXiv 2402.06126v4, section 5.2, Table 1";
    experiment.says =
        "Table 1 gives FLOPs per token at the sparsity at which quality has dropped by 0.05 "
        "ROUGE-L (XSum, E2E) or 0.5 perplexity (WikiText-103). The full model's number is plain "
        "arithmetic on LLaMA-7B's shape: unit 2^30, a multiply-add counted as two, projections "
        "and feed-forward networks only. The sparsities of the others are not printed; they are "
        "computed here from the printed FLOPs, so their FLOPs are no evidence; what is are the "
        "ratios, the parts, and that each sparsity is a possible one.";
    experiment.axes = {{"dataset",
                        "whose allowed loss of quality sets the sparsity",
                        {"xsum", "e2e", "wikitext103"},
                        false}};
    experiment.variants = {"full", "lte", "deja_vu", "moefication", "relullama_moefication"};
    experiment.metrics = metrics();
    for (const Profile profile : {Profile::toy, Profile::small, Profile::paper}) {
        ProfilePlan plan;
        plan.profile = profile;
        plan.provenances = {Provenance::exact};
        plan.seconds_per_sample = 0.02;
        plan.timeout_s = 60;
        experiment.profiles.push_back(std::move(plan));
    }
    experiment.figure = {Figure::Kind::bars,    "gflops", "dataset", {}, "data set",
                         "2^30 FLOP per token", false};
    experiment.unsupported = not_in_table;
    experiment.run = run;
    return experiment;
}

}  // namespace assay::lte
