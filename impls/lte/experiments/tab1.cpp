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
#include "suite/experiment/declaration.hpp"
#include "suite/experiment/exact_profiles.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::lte {
namespace {

enum class Method { full, lte, deja_vu, moefication, relullama_moefication };
ASSAY_NAMES(Method, full, lte, deja_vu, moefication, relullama_moefication)

struct Tab1 {
    std::string dataset;
    Method method{};
};

/// GFLOPs per token as Table 1 prints them; nullopt: it prints that the allowed loss of quality is
/// never met.
std::optional<double> printed_gflops(const Tab1& tab1) {
    using enum Method;
    static const std::map<std::pair<Method, std::string>, double> table{
        {{deja_vu, "xsum"}, 7.92},
        {{deja_vu, "e2e"}, 6.42},
        {{deja_vu, "wikitext103"}, 7.92},
        {{moefication, "xsum"}, 10.45},
        {{relullama_moefication, "xsum"}, 8.27},
        {{relullama_moefication, "e2e"}, 7.39},
        {{relullama_moefication, "wikitext103"}, 11.1},
        {{lte, "xsum"}, 5.38},
        {{lte, "e2e"}, 4.65},
        {{lte, "wikitext103"}, 6.59}};
    const auto found = table.find({tab1.method, tab1.dataset});
    if (found == table.end()) return std::nullopt;
    return found->second;
}

std::optional<std::string> not_in_table(const Tab1& tab1) {
    if (tab1.method == Method::full || printed_gflops(tab1)) return std::nullopt;
    return fmt::format("Table 1 has no entry for {} on {}", to_string(tab1.method), tab1.dataset);
}

struct Tab1Found : Metrics {
    using Metrics::Metrics;
    Metric gflops = exact("gflops", "2^30 FLOP", "per token, without the output projection", lower);
    Metric ratio = exact("ratio", "ratio", "FLOPs of the full model over these", higher);
    Metric ffn_sparsity =
        exact("ffn_sparsity", "share", "of the feed-forward networks left out", higher);
    Metric router_cost =
        exact("router_cost", "ratio", "FLOPs of the routers over those of dense networks", lower);
    Metric part_gflops = exact("part_gflops", "2^30 FLOP", "per token", lower, {"part"});
    Metric part_share = exact("part_share", "share", "of this variant's FLOPs", none, {"part"});
};

void run(const Tab1& tab1, Recorder& recorder) {
    const nn::DecoderConfig llama = model::named_shape("llama-7b");
    const double full = model::token_flops(llama).total();
    // Only LTE's numbers contain its routers (section 5.2); the rivals' predictors are not counted.
    const int routed = tab1.method == Method::lte ? experts_per_layer(llama) : 0;
    double sparsity = 0;
    if (const auto gflops = printed_gflops(tab1))
        sparsity = model::implied_sparsity(llama, *gflops * model::gibiflop, routed);
    const model::TokenFlops flops = model::token_flops(llama, sparsity, routed);
    const Tab1Found found(recorder);
    found.gflops(flops.total() / model::gibiflop);
    found.ratio(full / flops.total());
    found.ffn_sparsity(sparsity);
    const model::TokenFlops whole = model::token_flops(llama, 0, routed);
    found.router_cost(whole.router / whole.ffn);
    for (const auto& [part, value] :
         {std::pair{"ffn", flops.ffn}, {"attention", flops.attention}, {"router", flops.router}}) {
        found.part_gflops(value / model::gibiflop, {{"part", std::string(part)}});
        found.part_share(value / flops.total(), {{"part", std::string(part)}});
    }
}

}  // namespace

Experiment tab1() {
    Declaration<Tab1> tab1(
        {.id = "lte/tab1",
         .title = "FLOPs per token of LLaMA-7B",
         .source = "arXiv 2402.06126v4, section 5.2, Table 1",
         .says =
             "Table 1 gives FLOPs per token at the sparsity at which quality has dropped by 0.05 "
             "ROUGE-L (XSum, E2E) or 0.5 perplexity (WikiText-103). The full model's number is "
             "plain arithmetic on LLaMA-7B's shape: unit 2^30, a multiply-add counted as two, "
             "projections and feed-forward networks only. The sparsities of the others are not "
             "printed; they are computed here from the printed FLOPs, so their FLOPs are no "
             "evidence; what is are the ratios, the parts, and that each sparsity is a possible "
             "one.",
         .metrics = declared<Tab1Found>(),
         .profiles = exact_profiles(0.02),
         .figure = {.kind = Figure::Kind::bars,
                    .metric = "gflops",
                    .x = "dataset",
                    .x_title = "data set",
                    .y_title = "2^30 FLOP per token"}});
    tab1.axis("dataset", &Tab1::dataset, "whose allowed loss of quality sets the sparsity",
              {"xsum", "e2e", "wikitext103"});
    tab1.variants(&Tab1::method);
    tab1.unsupported(not_in_table);
    return tab1.runs(run);
}

}  // namespace assay::lte
