// The fine-tuning experiments on a model so small that every arm takes moments.
#include "impls/dr_post_training/recipes/fine_tuning.hpp"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <set>

#include "impls/dr_post_training/recipes/arms.hpp"
#include "impls/rl/tasks/questions.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/recorder.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/dr_post_training/recipes/tiny_sample.hpp"

namespace assay::dr_post_training {
namespace {

/// Products so small take longer on several threads.
const bool one_thread = (at::set_num_threads(1), true);

TEST(Pools, HaveTheSharesTheyAreAskedForAndWordsOfTheirOwn) {
    const PoolShape shape{.relevance = 0.2, .noise = 0.3};
    std::map<Kind, int> kinds;
    std::set<std::string> general;
    constexpr int rows = 2000;
    for (int number = 0; number < rows; ++number) {
        const auto row = general_row(shape, 5, static_cast<std::uint64_t>(number));
        ++kinds[row.kind];
        if (row.kind != Kind::other) general.insert(row.prompt);
        EXPECT_EQ(row.prompt.starts_with("turn "), row.kind != Kind::other);
    }
    EXPECT_NEAR(kinds[Kind::related] / double{rows}, 0.2, 0.03);
    EXPECT_NEAR(kinds[Kind::contrary] / double{rows}, 0.3, 0.03);
    std::set<std::string> seen = general;
    for (const Use use : {Use::given, Use::validation, Use::test}) {
        std::set<std::string> here;
        for (std::uint64_t number = 0; number < 100; ++number) {
            const auto row = target_row(use, 5, number);
            EXPECT_EQ(row.answer, rl::answer_to("reverse", "rev " + row.prompt.substr(5)));
            here.insert(row.prompt);
        }
        for (const auto& prompt : here) EXPECT_FALSE(seen.contains(prompt)) << prompt;
        seen.merge(here);
    }
}

TEST(Settings, RefuseWhatCannotBe) {
    for (const auto& [axis, value] :
         std::vector<std::pair<std::string, Value>>{{"model", "gpt"},
                                                    {"relevance", 1.5},
                                                    {"noise", -0.1},
                                                    {"noise", 0.9},
                                                    {"steps", std::int64_t{0}},
                                                    {"steps", "many"},
                                                    {"n_val", std::int64_t{0}},
                                                    {"rate", 0.0},
                                                    {"rate", "fast"},
                                                    {"m", std::int64_t{0}}})
        EXPECT_THROW(tiny_sample("full", {{axis, value}}), UserError) << axis;
    const auto settings = sft_settings(tiny_sample("full", {{"rate", 0.01}, {"loss", "example"}}));
    EXPECT_EQ(settings.rates, std::vector{0.01});
    EXPECT_EQ(settings.readings.loss, LossMean::example);
    EXPECT_EQ(settings.steps, 8);
}

// One start for all arms, one history for one seed.
TEST(FineTuning, IsAFunctionOfTheSeed) {
    const auto settings = sft_settings(tiny_sample("layer"));
    nn::NoState none;
    const auto base = base_model(settings, 3, none, {});
    const SftRows rows(settings, 3);
    const auto once = fine_tune(settings, "layer", 1e-3, rows, base, 3, {});
    const auto again = fine_tune(settings, "layer", 1e-3, rows, base, 3, {});
    EXPECT_EQ(once.test_nll, again.test_nll);
    EXPECT_EQ(once.selections.rows, again.selections.rows);
    const auto full = fine_tune(settings, "full", 1e-3, rows, base, 3, {});
    EXPECT_EQ(full.test_nll.front(), once.test_nll.front());  // the start
    EXPECT_EQ(full.loss.front(), once.loss.front());          // and the batch
    EXPECT_NE(full.test_nll.back(), once.test_nll.back());
    EXPECT_EQ(once.selections.rows.size(), 14U);  // seven maps, two layers
    for (const auto& [group, bits] : once.selections.rows)
        for (const double row_bits : bits)
            EXPECT_EQ(std::popcount(static_cast<std::uint64_t>(row_bits)), 4) << group;
}

// Choosing all rows is plain training, whoever chooses.
TEST(FineTuning, ChoosingAllRowsIsPlainTraining) {
    auto settings = sft_settings(tiny_sample("layer"));
    settings.k = settings.n;
    nn::NoState none;
    const auto base = base_model(settings, 3, none, {});
    const SftRows rows(settings, 3);
    const auto full = fine_tune(settings, "full", 1e-3, rows, base, 3, {});
    for (const char* arm : {"layer", "global", "random_layer", "greats"}) {
        const auto tuned = fine_tune(settings, arm, 1e-3, rows, base, 3, {});
        for (std::size_t i = 0; i < full.test_nll.size(); ++i)
            EXPECT_NEAR(tuned.test_nll[i], full.test_nll[i], 1e-4) << arm;
    }
}

TEST(FineTuning, TargetStoppedStaysWhereItStopped) {
    auto settings = sft_settings(tiny_sample("target"));
    settings.steps = 56;
    settings.evaluations = 28;
    nn::NoState none;
    const auto base = base_model(settings, 3, none, {});
    const SftRows rows(settings, 3);
    const auto tuned = fine_tune(settings, "target_stopped", 1e-3, rows, base, 3, {});
    const auto nll_at = [&](double step) {
        for (std::size_t i = 0; i < tuned.at_step.size(); ++i)
            if (tuned.at_step[i] == step) return tuned.test_nll[i];
        ADD_FAILURE() << step;
        return 0.0;
    };
    EXPECT_NE(nll_at(48), nll_at(50));
    EXPECT_EQ(nll_at(50), nll_at(56));
    EXPECT_EQ(tuned.trained_steps, 50);
}

TEST(RunSft, EveryArmRecordsItsPerplexityAndWhatItChose) {
    std::vector<std::string> arms = sft_arms();
    arms.insert(arms.end(), set_arms().begin(), set_arms().end());
    for (const std::string& arm : arms) {
        MemoryRecorder recorder;
        run(tiny_sample(arm), recorder);
        EXPECT_GT(recorder.value("perplexity"), 1) << arm;
        EXPECT_LE(recorder.value("perplexity_least"), recorder.value("perplexity")) << arm;
        const bool chooses = !(arm.starts_with("full") || arm.starts_with("target") ||
                               arm == "mixing" || arm == "less" || arm == "a_gem");
        int groups = 0;
        for (const auto& series : recorder.time_series_kept) groups += series.name == "selected";
        EXPECT_EQ(groups > 0, chooses) << arm;
        const std::map<std::string, int> of_partition{
            {"layer", 14}, {"block", 2}, {"sublayer", 4}, {"global", 1}};
        const auto expected = of_partition.find(arm);
        if (expected != of_partition.end()) {
            EXPECT_EQ(groups, expected->second) << arm;
        }
    }
}

// Another experiment's sample of the same training takes what is kept: even its time is the same.
TEST(RunSft, ATrainingIsMadeOnceInASession) {
    const testing::TemporaryFolder shared;
    using Besides = FineTuning::Besides;
    const auto sample = [&](Besides besides, const Case& more = {}) {
        FineTuning tuning = tiny_sample("layer", more);
        tuning.besides = besides;
        tuning.shared = shared.path();
        MemoryRecorder recorder;
        run(tuning, recorder);
        return recorder;
    };
    const auto first = sample(Besides::equal_time);
    const auto second = sample(Besides::choices);
    for (const char* metric : {"perplexity", "perplexity_least", "accuracy", "rate", "step_ms",
                               "kept_related", "kept_contrary"})
        EXPECT_EQ(second.value(metric), first.value(metric)) << metric;
    ASSERT_EQ(second.time_series_kept.size(), first.time_series_kept.size());
    for (std::size_t i = 0; i < first.time_series_kept.size(); ++i)
        EXPECT_EQ(second.time_series_kept[i].values, first.time_series_kept[i].values);
    EXPECT_GT(second.value("patterns"), 0);
    for (const Case& other : {Case{{"m", std::int64_t{2}}}, Case{{"rate", 2e-3}},
                              Case{{"noise", 0.5}}, Case{{"rule", "greedy"}}})
        EXPECT_NE(sample(Besides::choices, other).value("step_ms"), first.value("step_ms"));
}

TEST(RunSft, TakesTheReadings) {
    for (const auto& [axis, value] :
         std::vector<std::pair<std::string, Value>>{{"loss", "example"},
                                                    {"rule", "greedy"},
                                                    {"rule", "exact"},
                                                    {"similarity", "as_published"},
                                                    {"head", "selected"},
                                                    {"target", "cached"},
                                                    {"backend", "gip"},
                                                    {"backend", "direct"},
                                                    {"backend", "compressed"},
                                                    {"m", std::int64_t{2}}}) {
        MemoryRecorder recorder;
        run(tiny_sample("layer", {{axis, value}}), recorder);
        EXPECT_TRUE(std::isfinite(recorder.value("perplexity"))) << axis;
    }
    EXPECT_THROW(make_arm("nothing", sft_settings(tiny_sample("full")),
                          nn::Decoder(sft_settings(tiny_sample("full")).model, 1),
                          SftRows(sft_settings(tiny_sample("full")), 1), 1, 1e-3),
                 std::invalid_argument);
}

}  // namespace
}  // namespace assay::dr_post_training
