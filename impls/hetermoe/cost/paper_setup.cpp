#include "impls/hetermoe/cost/paper_setup.hpp"

#include <fmt/format.h>

#include <array>

#include "suite/base/error.hpp"

namespace assay::hetermoe {
namespace {

constexpr std::array<ModelShape, 5> models{
    {{.name = "mixtral-w1", .layers = 4, .hidden = 2048, .experts = 12},
     {.name = "mixtral-w2", .layers = 4, .hidden = 2048, .experts = 24},
     {.name = "mixtral-d1", .layers = 8, .hidden = 1024, .experts = 24},
     {.name = "mixtral-d2", .layers = 6, .hidden = 1024, .experts = 18},
     {.name = "mixtral-d3", .layers = 8, .hidden = 1024, .experts = 40}}};

// Which model ran where is stated for W1 and D1 on O1 and W2 on O2; the others go by divisibility.
constexpr std::array<PaperCluster, 5> clusters{
    {{"o1", "a40", "v100", 6, 6, 48, 16, 100, "hetermoe-on-premise", "mixtral-w1"},
     {"o2", "a40", "v100", 4, 8, 48, 16, 100, "hetermoe-on-premise", "mixtral-w2"},
     {"o3", "a40", "v100", 6, 3, 48, 16, 100, "hetermoe-on-premise", "mixtral-d2"},
     {"c1", "l40s", "t4", 2, 6, 48, 16, 200, "hetermoe-aws", "mixtral-d1"},
     {"c2", "l40s", "t4", 2, 8, 48, 16, 200, "hetermoe-aws", "mixtral-d3"}}};

template <class Entry>
const Entry& named(std::span<const Entry> entries, std::string_view name, const char* what,
                   std::string_view prefix = "") {
    std::string known;
    for (const Entry& entry : entries) {
        if (entry.name == name || entry.name == fmt::format("{}{}", prefix, name)) return entry;
        known += fmt::format("{}{}", known.empty() ? "" : ", ", entry.name);
    }
    throw UserError(fmt::format("no {} '{}'; there are: {}", what, name, known));
}

}  // namespace

std::span<const ModelShape> paper_models() { return models; }

const ModelShape& model_shape(std::string_view name) {
    return named(paper_models(), name, "model", "mixtral-");
}

std::span<const PaperCluster> paper_clusters() { return clusters; }

const PaperCluster& paper_cluster(std::string_view name) {
    return named(paper_clusters(), name, "cluster");
}

}  // namespace assay::hetermoe
