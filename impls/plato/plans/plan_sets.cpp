#include "impls/plato/plans/plan_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <random>

#include "suite/base/error.hpp"

namespace assay::plato {
namespace {

// The same numbers everywhere: the standard's distributions are not.
class Draws {
  public:
    explicit Draws(std::uint64_t seed) : random_(seed) {}
    std::int64_t between(std::int64_t least, std::int64_t most) {
        return least +
               static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most - least + 1));
    }
    bool with(double probability) {
        return static_cast<double>(random_() >> 11) * 0x1p-53 < probability;
    }

  private:
    std::mt19937_64 random_;
};

std::vector<int> dependencies(const PlanShape& shape, int node, bool closes, Draws& draws) {
    std::vector<int> list;
    if (shape.chain && node > 1) list.push_back(node - 1);
    if (shape.chain) return list;
    for (int before = closes ? 1 : std::max(1, node - 4); before < node; ++before)
        if (draws.with(closes ? 0.6 : shape.edge)) list.push_back(before);
    return list;
}

PlanRecord draw_plan(const PlanShape& shape, Draws& draws) {
    PlanRecord plan{.id = {},
                    .question_tokens = draws.between(20, 90),
                    .static_plan_tokens = 500,
                    .static_node_tokens = 120,
                    .ar_tokens = 0,
                    .nodes = {}};
    const int nodes = static_cast<int>(draws.between(4, 9));
    const bool closing = draws.with(shape.closing);
    for (int number = 1; number <= nodes; ++number) {
        NodeRecord node{.line_tokens = draws.between(12, 22),
                        .lead_tokens = draws.between(8, 16),
                        .out_tokens = draws.between(40, 140),
                        .dependencies = {}};
        node.dependencies = dependencies(shape, number, closing && number == nodes, draws);
        plan.ar_tokens += node.out_tokens;
        plan.nodes.push_back(std::move(node));
    }
    return plan;
}

void add_skeleton(PlanRecord& plan, Draws& draws) {
    plan.static_skeleton_tokens = skeleton_instruction_tokens;
    plan.static_point_tokens = point_instruction_tokens;
    for (NodeRecord& node : plan.nodes) node.point_tokens = point_tokens(draws.between(3, 5));
}

}  // namespace

PlanShape plan_shape(std::string_view name) {
    if (name == "flat") return {};
    if (name == "mixed") return {.edge = 0.35, .closing = 0.7};
    if (name == "chain") return {.chain = true};
    constexpr std::string_view key = "density:";
    if (name.starts_with(key)) {
        double edge = -1;
        const std::string_view number = name.substr(key.size());
        const auto read = std::from_chars(number.data(), number.data() + number.size(), edge);
        if (read.ec == std::errc() && read.ptr == number.data() + number.size() && edge >= 0 &&
            edge <= 1)
            return {.edge = edge};
    }
    throw UserError(
        fmt::format("plans {}: give flat, mixed, chain, density:P (P from 0 to 1), recorded, or a "
                    "file of plans that is there",
                    name));
}

std::vector<PlanRecord> draw_plans(const PlanShape& shape, int count, std::uint64_t seed) {
    Draws draws(seed), skeletons(~seed);  // of their own: the rest is drawn as without them
    std::vector<PlanRecord> plans;
    for (int i = 1; i <= count; ++i) {
        plans.push_back(draw_plan(shape, draws));
        add_skeleton(plans.back(), skeletons);
        plans.back().id = fmt::format("{}-{}", seed, i);
    }
    return plans;
}

}  // namespace assay::plato
