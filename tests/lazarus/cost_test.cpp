// The modelled cost of steps and recoveries: against sums written out by hand, and properties.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "impls/lazarus/cost/pipelined_layer.hpp"
#include "impls/lazarus/cost/recovery_cost.hpp"
#include "impls/lazarus/cost/step_operations.hpp"
#include "impls/lazarus/cost/step_timeline.hpp"
#include "suite/base/error.hpp"

namespace assay::lazarus {
namespace {

constexpr int ranks = 4, experts = 8, real_layers = 3;

Modelling modelling(int group = 0) {
    return {.model = modelled_model("gpt-s"),
            .cluster = "lazarus-testbed",
            .real_layers = real_layers,
            .real_tokens = 100,
            .modelled_steps = 5,
            .dispatch = group > 0 ? DispatchRule::padded_in(group) : DispatchRule{}};
}

const CostModel& costs() {
    static const CostModel model(cluster_profile("lazarus-testbed"));
    return model;
}

// Two groups of two: ranks 0 and 2 hold experts 0 to 3, ranks 1 and 3 the others.
StepParticipants participants(std::vector<double> slowdowns = {}) {
    const Placement layer{{0, 1, 2, 3}, {4, 5, 6, 7}, {0, 1, 2, 3}, {4, 5, 6, 7}};
    return {{0, 1, 2, 3}, std::move(slowdowns), ModelPlacement(real_layers, layer)};
}

// tokens[expert][rank]: `hot` of each rank's 100 go to expert 0, the rest evenly.
std::vector<Tokens> tokens(Tokens hot) {
    std::vector<Tokens> counts(experts * ranks, (100 - hot) / (experts - 1));
    for (int rank = 0; rank < ranks; ++rank) counts[static_cast<std::size_t>(rank)] = hot;
    return counts;
}

StepTimeline timeline(const Modelling& how, Tokens hot, std::vector<double> slowdowns = {}) {
    StepTimeline line(costs(), how, participants(std::move(slowdowns)));
    for (int layer = 0; layer < real_layers; ++layer) line.counted(layer, tokens(hot));
    return line;
}

TEST(ModelledModel, SizesAreThoseOfTable1) {
    EXPECT_NEAR(modelled_model("gpt-s").parameters(), 521e6, 0.5e6);
    EXPECT_NEAR(modelled_model("gpt-m").parameters(), 1.3e9, 0.05e9);
    EXPECT_NEAR(modelled_model("gpt-l").parameters(), 1.7e9, 0.05e9);
    // Section 4.3 of the paper: 63 and 112 MB of state per expert replica.
    const auto mib = [](const char* name) {
        return ModelledModel::state_bytes * modelled_model(name).expert_parameters() / (1 << 20);
    };
    EXPECT_DOUBLE_EQ(mib("gpt-s"), 63);
    EXPECT_DOUBLE_EQ(mib("gpt-l"), 112);
    EXPECT_THROW(modelled_model("gpt-xl"), UserError);
}

/// Rows of one layer on the four ranks above.
ExchangeTotals totals(const std::vector<Tokens>& tokens, const DispatchRule& rule = {}) {
    return make_dispatcher(rule, participants().holders[0], experts)
        ->totals(tokens, RankSites::apart(ranks));
}

TEST(LayerTraffic, PaddingFillsEverySliceToTheLargestOfTheGroupAndStaysInIt) {
    // Each rank holds 4 experts and gets a slice of 30 rows for each from the 2 ranks of its group.
    const auto all = totals(tokens(30), DispatchRule::padded_in(2));
    for (double rows : all.computed) EXPECT_DOUBLE_EQ(rows, 2 * 4 * 30);
    for (const auto& rank : all.traffic) {
        EXPECT_DOUBLE_EQ(rank.sent.inside_rack, 4 * 30);
        EXPECT_DOUBLE_EQ(rank.received.inside_rack, 4 * 30);
    }
}

TEST(LayerTraffic, AGroupIsNotPaddedToTheLargestSliceOfAnother) {
    auto counts = tokens(30);
    counts[0] = 50;  // expert 0 on rank 0: of the first group alone
    const auto all = totals(counts, DispatchRule::padded_in(2));
    EXPECT_EQ(all.computed, (std::vector<double>{8 * 50, 8 * 50, 8 * 30, 8 * 30}));
    EXPECT_DOUBLE_EQ(all.traffic[0].sent.total(), 4 * 50);
    EXPECT_DOUBLE_EQ(all.traffic[2].sent.total(), 4 * 30);
}

TEST(StepTimeline, OneLayerIsTheSumOfItsParts) {
    auto how = modelling();
    how.real_layers = 1;
    how.modelled_steps = 1;
    auto one = participants();
    one.holders.resize(1);
    StepTimeline line(costs(), how, one);
    line.counted(0, tokens(30));
    const double layers = 12, d = 768, row_scale = 4096.0 / 100;
    const auto all = totals(tokens(30));
    const auto dispatcher = make_dispatcher({}, one.holders[0], experts);
    DispatchPlan plan;
    dispatcher->table(tokens(30), plan);
    std::vector<double> bytes(ranks * ranks, 0);
    for (std::size_t i = 0; i < plan.counts.size(); ++i)
        bytes[i % bytes.size()] += static_cast<double>(plan.counts[i]) * row_scale * 2 * d;
    const double there =
        layers * (costs().all_to_all(bytes, ranks) + costs().all_gather(8.0 * experts, ranks));
    EXPECT_NEAR(line.dispatched(0) - line.attention_done(0, 0), there, 1e-9 * there);
    double slowest = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        const double rows = all.computed[static_cast<std::size_t>(rank)] * row_scale;
        slowest =
            std::max(slowest, costs().compute(rank, {.flops = 16 * d * d * rows,
                                                     .bytes = 2 * (4 * 8 * d * d + 10 * rows * d),
                                                     .kernels = 12}));
    }
    EXPECT_NEAR(line.computed(0, 0) - line.dispatched(0), layers * slowest,
                1e-3 * slowest * layers);
}

TEST(StepTimeline, OperationsAreInOrder) {
    const auto line = timeline(modelling(), 30);
    double before = 0;
    for (int layer = 0; layer < real_layers; ++layer) {
        for (double now : {line.attention_done(layer, 0), line.dispatched(layer),
                           line.computed(layer, 0), line.combined(layer)}) {
            EXPECT_GT(now, before);
            before = now;
        }
    }
    for (double now : {line.forward_done(), line.backward_done(), line.total()}) {
        EXPECT_GT(now, before);
        before = now;
    }
}

TEST(StepTimeline, ModelledStepsAndLayersScale) {
    auto once = modelling(), often = modelling();
    often.modelled_steps = 4 * once.modelled_steps;
    EXPECT_NEAR(timeline(often, 30).total(), 4 * timeline(once, 30).total(), 1e-9);
    // Fewer real layers stand for more modelled ones each: the same model, the same time.
    auto few = modelling();
    few.real_layers = 1;
    auto one = participants();
    one.holders.resize(1);
    StepTimeline line(costs(), few, one);
    line.counted(0, tokens(30));
    EXPECT_NEAR(line.total(), timeline(modelling(), 30).total(), 1e-9 * line.total());
}

// ---- overlap -----------------------------------------------------------------------------------

StepTimeline overlapping(double overlap, int group = 0, std::vector<double> slowdowns = {}) {
    auto how = modelling(group);
    how.overlap = overlap;
    return timeline(how, 30, std::move(slowdowns));
}

// Computing so slow that the sums are the shorter side, or sums so long that computing is.
const std::vector<std::vector<double>> slow_and_fast{{}, {40, 40, 40, 40}};

TEST(Overlap, WithoutAnyAStepIsTheSumOfItsParts) {
    for (const int group : {0, 2}) {
        const auto line = overlapping(0, group);
        const StepParts parts = line.parts();
        EXPECT_EQ(parts.hidden_s, 0);
        EXPECT_NEAR(parts.compute_s() + parts.communication_s(), line.total(),
                    1e-12 * line.total());
        EXPECT_DOUBLE_EQ(line.total(), timeline(modelling(group), 30).total());
    }
    // As it was before there was a parameter: results made then stay comparable.
    EXPECT_DOUBLE_EQ(overlapping(0).total(), 1.6136905306639338);
    EXPECT_DOUBLE_EQ(overlapping(0, 2).total(), 2.0820968985943971);
}

TEST(Overlap, WholeASumAndTheBackwardPassTakeTheLongerOfTheTwo) {
    bool sums_longer = false, computing_longer = false;
    for (const auto& slowdowns : slow_and_fast) {
        const StepParts parts = overlapping(1, 0, slowdowns).parts();
        EXPECT_NEAR(parts.total(),
                    parts.forward_compute_s + parts.exchange_s +
                        std::max(parts.backward_compute_s, parts.sums_s) + parts.optimizer_s,
                    1e-12 * parts.total());
        sums_longer = sums_longer || parts.sums_s > parts.backward_compute_s;
        computing_longer = computing_longer || parts.sums_s < parts.backward_compute_s;
    }
    EXPECT_TRUE(sums_longer && computing_longer) << "both sides of the max";
}

TEST(Overlap, MoreOfItIsNeverSlowerAndNeverFasterThanEitherSideAlone) {
    for (const auto& slowdowns : slow_and_fast) {
        double before = std::numeric_limits<double>::infinity();
        for (const double overlap : {0.0, 0.1, 0.5, 0.9, 1.0}) {
            const auto line = overlapping(overlap, 2, slowdowns);
            const StepParts parts = line.parts();
            EXPECT_LT(line.total(), before);
            before = line.total();
            EXPECT_GE(line.total(), parts.compute_s());
            EXPECT_GE(line.total(), parts.communication_s());
            EXPECT_NEAR(line.total(), parts.total(), 1e-12 * line.total());
        }
    }
}

// A paced worker is held to these one after the other.
TEST(Overlap, ChangesNoOperationBeforeTheBackwardPassIsOver) {
    const auto none = overlapping(0), all = overlapping(1);
    for (int layer = 0; layer < real_layers; ++layer) {
        for (int rank = 0; rank < ranks; ++rank) {
            EXPECT_EQ(none.attention_done(layer, rank), all.attention_done(layer, rank));
            EXPECT_EQ(none.computed(layer, rank), all.computed(layer, rank));
        }
        EXPECT_EQ(none.dispatched(layer), all.dispatched(layer));
        EXPECT_EQ(none.combined(layer), all.combined(layer));
    }
    EXPECT_EQ(none.forward_done(), all.forward_done());
    EXPECT_EQ(none.backward_done(), all.backward_done());
    EXPECT_GT(all.total(), all.backward_done()) << "the optimizer is still to come";
}

TEST(Overlap, IsAShare) {
    for (const double overlap : {-0.01, 1.01, std::nan("")})
        EXPECT_THROW(overlapping(overlap), std::logic_error);
}

// ---- operations --------------------------------------------------------------------------------

// ---- rivals' rules of dispatch ------------------------------------------------------------------

TEST(PipelinedLayer, PartsOverlapByHand) {
    const auto one = pipelined_layer(1, {3, 5, 2});
    EXPECT_DOUBLE_EQ(one.dispatched, 3);
    EXPECT_DOUBLE_EQ(one.computed, 8);
    EXPECT_DOUBLE_EQ(one.combined, 10);
    // Computing is the longest: it never waits after the first part has come.
    const auto two = pipelined_layer(2, {1.5, 2.5, 1});
    EXPECT_DOUBLE_EQ(two.computed, 1.5 + 2 * 2.5);
    EXPECT_DOUBLE_EQ(two.combined, 1.5 + 2 * 2.5 + 1);
    // The network is: the way back of a part waits until all parts are there.
    EXPECT_DOUBLE_EQ(pipelined_layer(4, {3, 1, 3}).combined, 24);
}

Modelling tutel(int pipeline) {
    auto how = modelling(2);
    how.dispatch.pipeline = pipeline;
    return how;
}

TEST(Pipelining, IsNeverSlowerAndNeverBelowWhatCannotOverlap) {
    for (const Tokens hot : {12, 30, 80}) {
        const auto ds = timeline(modelling(2), hot).parts();
        double before = ds.total();
        for (const int degree : {1, 2, 4, 8}) {
            const auto line = timeline(tutel(degree), hot);
            const auto parts = line.parts();
            EXPECT_NEAR(parts.total(), line.total(), 1e-9 * line.total());
            EXPECT_LE(line.total(), before * (1 + 1e-12)) << degree << " parts allowed";
            before = line.total();
            // The same work: only what runs beside other work is less.
            EXPECT_DOUBLE_EQ(parts.compute_s(), ds.compute_s());
            EXPECT_DOUBLE_EQ(parts.communication_s(), ds.communication_s());
            EXPECT_GE(parts.total(), std::max(ds.compute_s(), ds.communication_s()));
            if (degree == 1) {
                EXPECT_EQ(parts.pipelined_s, 0);
            }
        }
        EXPECT_LT(before, ds.total()) << "with eight parts something overlaps";
    }
}

TEST(Pipelining, OperationsStayInOrder) {
    const auto line = timeline(tutel(8), 40);
    double last = 0;
    for (int layer = 0; layer < real_layers; ++layer) {
        EXPECT_GT(line.dispatched(layer), last);
        for (int rank = 0; rank < ranks; ++rank) {
            EXPECT_GE(line.computed(layer, rank), line.dispatched(layer));
            EXPECT_LE(line.computed(layer, rank), line.combined(layer));
        }
        last = line.combined(layer);
    }
    EXPECT_GT(line.backward_done(), line.forward_done());
}

Modelling spilling(double imbalance = 1.3) {
    auto how = modelling(2);
    how.dispatch.kind = DispatchRule::Kind::spill;
    how.dispatch.limits = {.capacity = 1, .fewest = 1, .imbalance = imbalance};
    return how;
}

TEST(SpillPricing, WithoutSpillItIsTheUnpaddedExchangeOfTheGroups) {
    const double never = 1e9;
    EXPECT_LT(timeline(spilling(never), 30).total(), timeline(modelling(2), 30).total())
        << "no padding";
    EXPECT_EQ(timeline(spilling(), 12).total(), timeline(spilling(never), 12).total());
}

TEST(SpillPricing, WeightsTravelThereAndTheirGradientsBack) {
    // Of a group's 200 rows expert 0 has 160, on the first rank: 68 of its rows go to the other.
    const auto how = spilling();
    const auto parts = timeline(how, 80).parts();
    EXPECT_LT(parts.compute_s(), timeline(spilling(1e9), 80).parts().compute_s());

    const auto all = totals(tokens(80), how.dispatch);
    ASSERT_EQ(all.weights.size(), 2U) << "one expert of each group";
    const Network& network = costs().network();
    Exchange rows{all.traffic, {}}, weights{std::vector<RankTraffic>(ranks), {}};
    const double row_bytes = how.model.tokens() / how.real_tokens * 2 * how.model.width;
    for (RankTraffic& rank : rows.ranks) {
        rank.sent *= row_bytes;
        rank.received *= row_bytes;
    }
    for (const WeightMove& move : all.weights)
        add_message(weights.ranks, RankSites::apart(ranks), move.from, move.to,
                    2 * how.model.expert_parameters());
    const double both = network.all_to_all(rows) + network.all_to_all(reversed(rows));
    const double moved = network.all_to_all(weights) + network.all_to_all(reversed(weights));
    const double counts = network.all_gather(8.0 * experts, ranks);
    EXPECT_NEAR(parts.exchange_s,
                how.model.layers * how.modelled_steps * (counts + 2 * both + moved),
                1e-9 * parts.exchange_s);
    EXPECT_GT(moved, 0);
}

TEST(StepOperations, AreListedUnderTheNamesThatTheyArePricedBy) {
    const auto model = modelled_model("gpt-m");
    std::vector<std::string_view> priced;
    for (const Operation& operation :
         {attention_operation(model), experts_operation(model, 6, model.tokens()),
          head_operation(model), optimizer_operation(1e6)}) {
        priced.push_back(operation.name);
        EXPECT_GT(operation.work.flops + operation.work.bytes, 0);
        EXPECT_GT(operation.work.kernels, 0);
    }
    std::vector<std::string_view> listed;
    for (const StepOperation& operation : step_operations()) listed.push_back(operation.name);
    EXPECT_EQ(listed, priced);
}

TEST(StepOperations, AProfileThatKnowsOnePricesThatOneAlone) {
    DeviceProfile device = device_profile("rtx3090");
    const auto total = [&] {
        const CostModel own(cluster_profile("lazarus-testbed"), std::vector{device});
        StepTimeline line(own, modelling(), participants());
        for (int layer = 0; layer < real_layers; ++layer) line.counted(layer, tokens(30));
        return line.parts();
    };
    const StepParts before = total();
    const Sourced half{0.5, "fitted", "a test", {"a/b/c"}};
    const Sourced none{0, "assumed", "a test"};
    device.operations["optimizer"] = {half, none};
    const StepParts after = total();
    EXPECT_NE(after.optimizer_s, before.optimizer_s);
    EXPECT_EQ(after.forward_compute_s, before.forward_compute_s);
    EXPECT_EQ(after.communication_s(), before.communication_s());
    device.operations["head"] = {half, none};
    EXPECT_NE(total().forward_compute_s, before.forward_compute_s);
    EXPECT_NE(total().backward_compute_s, before.backward_compute_s);
    device.operations["something else"] = {half, none};
    EXPECT_EQ(total().optimizer_s, after.optimizer_s);
}

TEST(StepTimeline, SkewCostsThePaddedExchangeMore) {
    const double even = timeline(modelling(2), 12).total() / timeline(modelling(), 12).total();
    const double skewed = timeline(modelling(2), 65).total() / timeline(modelling(), 65).total();
    EXPECT_GT(skewed, even);
    EXPECT_GT(skewed, 1.5);
}

TEST(StepTimeline, TheSlowestRankDecides) {
    const double all_fast = timeline(modelling(), 30).total();
    const double one_slow = timeline(modelling(), 30, {3, 1, 1, 1}).total();
    const double all_slow = timeline(modelling(), 30, {3, 3, 3, 3}).total();
    EXPECT_GT(one_slow, all_fast);
    EXPECT_NEAR(one_slow, all_slow, 1e-9 * all_slow);  // rank 0 has the hot expert
}

Reconfigure plan_of(std::vector<Transfer> transfers, std::optional<Step> restore = {}) {
    Reconfigure plan;
    plan.members = plan.training = {0, 1, 2, 3};
    plan.holders = participants().holders;
    plan.transfers = std::move(transfers);
    plan.restore_step = restore;
    return plan;
}

TEST(RecoveryCost, TransfersOfOneSenderAddUpAndOfSeveralOverlap) {
    const auto cost = [](std::vector<Transfer> transfers) {
        return reconfiguration_cost(costs(), modelling(), plan_of(std::move(transfers)), true);
    };
    const auto& cluster = costs().cluster();
    EXPECT_DOUBLE_EQ(cost({}).total(), cluster.detect_s.value + cluster.regroup_s.value);
    const double one = cost({{0, 0, 0, 1}}).transfer_s;
    EXPECT_GT(one, 0);
    EXPECT_NEAR(cost({{0, 0, 0, 1}, {0, 1, 0, 1}}).transfer_s, 2 * one, 0.01 * one);
    EXPECT_NEAR(cost({{0, 0, 0, 1}, {0, 1, 2, 3}}).transfer_s, one, 0.01 * one);
}

TEST(RecoveryCost, JoinersServedByOneMemberWaitForEachOther) {
    const auto transfer_s = [](std::vector<Worker> sources) {
        auto plan = plan_of({});
        plan.need_dense = {2, 3};
        plan.dense_sources = std::move(sources);
        return reconfiguration_cost(costs(), modelling(), plan, false).transfer_s;
    };
    EXPECT_GT(transfer_s({0, 1}), 0);
    EXPECT_NEAR(transfer_s({0, 0}), 2 * transfer_s({0, 1}), 0.01 * transfer_s({0, 0}));
}

TEST(RecoveryCost, ARestartLoadsWhatEveryNodeHolds) {
    const auto how = modelling();
    const auto cost = reconfiguration_cost(costs(), how, plan_of({}, 0), true, 123);
    EXPECT_DOUBLE_EQ(cost.regroup_s, 123);
    const auto& model = how.model;
    const double bytes =
        14 * (4 * model.dense_parameters() + 4 * 4 * model.layers * model.expert_parameters());
    EXPECT_NEAR(cost.transfer_s, bytes / costs().cluster().storage_bandwidth.value,
                1e-9 * cost.transfer_s);
    EXPECT_NEAR(checkpoint_cost(costs(), how),
                14 * model.parameters() / costs().cluster().storage_bandwidth.value, 1e-6);
}

TEST(Modelling, SurvivesItsWayToAWorker) {
    auto how = spilling();
    how.dispatch.pipeline = 4;
    how.overlap = 0.3;
    how.deal = Deal::blocks;
    const auto again = modelling_from(nlohmann::json::parse(to_json(how).dump()));
    EXPECT_EQ(to_json(again), to_json(how));
    EXPECT_EQ(again.dispatch, how.dispatch);
    EXPECT_EQ(again.gpus_per_worker, how.gpus_per_worker);
    EXPECT_EQ(again.overlap, 0.3);
    EXPECT_EQ(again.deal, Deal::blocks);
}

}  // namespace
}  // namespace assay::lazarus
