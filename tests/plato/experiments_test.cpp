// The system `plato`: claims ask experiments for what they have, and samples come out. Those on the
// real model need ASSAY_TEST_MODEL, the GGUF file of SmolLM2-135M-Instruct.
#include "impls/plato/experiments/experiments.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "impls/plato/experiments/measured_plans.hpp"
#include "impls/plato/experiments/recorded_plans.hpp"
#include "impls/plato/plans/plan_file.hpp"
#include "impls/plato/register.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/recorder.hpp"
#include "tests/base/temporary_folder.hpp"

namespace assay::plato {
namespace {

using Metrics = std::map<std::string, double>;

class PlatoExperiments : public ::testing::Test {
  protected:
    PlatoExperiments() { setenv("ASSAY_DATASETS", ASSAY_TEST_DATASETS, 1); }

    static SampleSpec spec_of(const std::string& variant, const Case& axes,
                              Provenance provenance = Provenance::simulated) {
        SampleSpec spec;
        spec.variant = variant;
        spec.axes = axes;
        spec.provenance = provenance;
        return spec;
    }
    static Metrics run(const Experiment& experiment, const SampleSpec& spec) {
        experiment.validate(spec);
        MemoryRecorder recorder;
        experiment.run(spec, recorder);
        Metrics metrics;
        for (const auto& metric : recorder.metrics) {
            const MetricSpec* declared = experiment.metric(metric.name);
            EXPECT_TRUE(declared && (declared->only.empty() ||
                                     std::find(declared->only.begin(), declared->only.end(),
                                               spec.provenance) != declared->only.end()))
                << metric.name << " is not declared for these samples, which would fail";
            metrics[metric.name] = metric.value;
        }
        return metrics;
    }
    static Value word(const char* text) { return std::string(text); }
    static Value whole(std::int64_t n) { return n; }
};

TEST_F(PlatoExperiments, ClaimsAndExperimentsFit) {
    Registry registry;
    ASSERT_NO_THROW(registry.add(make_system(Claims::read)));
    for (const char* const id :
         {"kv", "throughput", "pipeline", "shape", "batch", "concurrency", "fidelity", "quality",
          "x_payoff", "x_context", "x_planner", "x_faults", "x_options"})
        EXPECT_TRUE(registry.experiment(std::string("plato/") + id)) << id;
    EXPECT_EQ(registry.claim("plato/kv/reuse")->experiment, "plato/kv");
    // A measured sample answers it.
    Observation seen{.experiment = "plato/kv",
                     .variant = "plato",
                     .axes = {{"plans", word("mixed")},
                              {"kv", word("L2")},
                              {"model", word("smollm2-135m-instruct")},
                              {"device", word("cpu")}},
                     .provenance = Provenance::measured,
                     .metric = "recomputed_fraction",
                     .labels = {},
                     .value = 0.24,
                     .scenario = {},
                     .sample = {},
                     .origin = {},
                     .host = {}};
    const auto verdict = [&] {
        return check_claim(registry, *registry.claim("plato/kv/reuse"), {&seen, 1}).verdict;
    };
    EXPECT_EQ(verdict(), ClaimVerdict::supported);
    seen.value = 0.4;
    EXPECT_EQ(verdict(), ClaimVerdict::contradicted);
}

TEST_F(PlatoExperiments, TheRuleIsRightOnOtherPlans) {
    double right = 0, cases = 0;
    for (const double density : {0.0, 0.5, 1.0})
        for (const double c1 : {0.003, 0.3}) {
            const Metrics found =
                run(x_payoff(),
                    spec_of("plato",
                            {{"density", density}, {"c1", c1}, {"p", 0.03}, {"load", whole(0)}}));
            right += found.at("rule_right");
            ++cases;
            EXPECT_LT(found.at("rule_error"), 0.25);
        }
    EXPECT_GT(right / cases, 0.85);
}

TEST_F(PlatoExperiments, FaultsCostTimeAndNoText) {
    for (const char* const kind : {"kill", "hang", "slow", "corrupt", "wipe"}) {
        const auto at = [&](std::int64_t faults) {
            return run(x_faults(),
                       spec_of(kind, {{"faults", whole(faults)}, {"plans", word("mixed")}}));
        };
        EXPECT_EQ(at(0).at("slowdown"), 1);
        EXPECT_EQ(at(0).at("computed_ratio"), 1);
        EXPECT_EQ(at(10).at("same_text"), 1) << kind;
    }
}

TEST_F(PlatoExperiments, FaultsThatAreGivenStrikeInPlaceOfThoseOfAKind) {
    SampleSpec spec = spec_of("given", {{"faults", whole(0)}, {"plans", word("mixed")}});
    EXPECT_EQ(run(x_faults(), spec).at("slowdown"), 1);
    spec.scenario = "wipe:rank=0@t=0.5;wipe:rank=1@t=1;wipe:rank=2@t=1";
    const Metrics wiped = run(x_faults(), spec);
    EXPECT_GT(wiped.at("computed_ratio"), 1);
    EXPECT_EQ(wiped.at("same_text"), 1);
    spec.scenario = "slow:rank=1,factor=9@t=0,for=0.5";
    EXPECT_GT(run(x_faults(), spec).at("slowdown"), 1);
    for (const char* const wrong : {"wipe:rank=3@t=1", "wipe:rank=0@step=1", "nan:rank=0@t=1"}) {
        spec.scenario = wrong;
        EXPECT_THROW(x_faults().validate(spec), UserError) << wrong;
    }
    spec.scenario = "wipe:rank=0@t=1";
    spec.axes["faults"] = whole(3);
    EXPECT_THROW(x_faults().validate(spec), UserError);
    spec.axes["faults"] = whole(0);
    spec.variant = "wipe";
    EXPECT_THROW(x_faults().validate(spec), UserError);
}

TEST_F(PlatoExperiments, AColdStartComputesMore) {
    const auto at = [&](const char* start) {
        return run(throughput(), spec_of("plato", {{"plans", word("mixed")},
                                                   {"start", word(start)},
                                                   {"model", word("llama2-7b")},
                                                   {"device", word("h200")}}));
    };
    EXPECT_GT(at("cold").at("recomputed_tokens"), at("warm").at("recomputed_tokens"));
    EXPECT_LT(at("cold").at("speedup"), at("warm").at("speedup"));
    EXPECT_THROW(at("lukewarm"), UserError);
}

TEST_F(PlatoExperiments, AGpuIsNotSupportedAndSaysWhy) {
    SampleSpec spec = spec_of(
        "plato", {{"plans", word("mixed")}, {"model", word("llama2-7b")}, {"device", word("h200")}},
        Provenance::measured);
    spec.profile = Profile::gpu;
    EXPECT_NO_THROW(throughput().validate(spec));
    ASSERT_TRUE(throughput().unsupported(spec));
    EXPECT_NE(throughput().unsupported(spec)->find("not supported here"), std::string::npos);
}

TEST_F(PlatoExperiments, WithManyQuestionsBatchesFillWithoutPlansToo) {
    const auto speedup = [&](std::int64_t questions) {
        return run(concurrency(), spec_of("plato", {{"concurrency", whole(questions)},
                                                    {"plans", word("flat")},
                                                    {"model", word("llama2-7b")},
                                                    {"device", word("h200")}}));
    };
    const Metrics one = speedup(1), many = speedup(8);
    EXPECT_GT(one.at("speedup"), 1.5);
    EXPECT_LT(many.at("speedup"), one.at("speedup"));
    EXPECT_GT(many.at("answer_tokens_per_s"), one.at("answer_tokens_per_s"));
    EXPECT_EQ(many.at("held_blocks"), 0);
}

TEST_F(PlatoExperiments, RefusesWhatCannotBeRun) {
    const auto refused = [](const Experiment& experiment, const SampleSpec& spec) {
        EXPECT_THROW(experiment.validate(spec), UserError);
    };
    const Case live{{"plans", word("mixed")},
                    {"kv", word("L2")},
                    {"model", word("smollm2-135m-instruct")},
                    {"device", word("cpu")}};
    EXPECT_NO_THROW(kv().validate(spec_of("plato", live, Provenance::measured)));
    refused(kv(), spec_of("plato", live));
    for (const auto& [axis, value] : std::map<std::string, const char*>{
             {"plans", "/no/such/file.jsonl"}, {"plans", "mixt"}, {"model", "llama2-7b"}}) {
        Case other = live;
        other[axis] = word(value);
        refused(kv(), spec_of("plato", other, Provenance::measured));
    }
    Case digits = live;
    digits["model"] = word("llama2-7b");
    digits["device"] = word("h200");
    digits["activations"] = word("int8");
    refused(kv(), spec_of("plato", digits));
    digits.erase("activations");
    digits["engines"] = whole(2);
    refused(kv(), spec_of("plato", digits));
    refused(x_payoff(),
            spec_of("plato", {{"density", 2.0}, {"c1", 0.1}, {"p", 0.1}, {"load", whole(0)}}));
    refused(x_faults(), spec_of("kill", {{"faults", whole(-1)}, {"plans", word("mixed")}}));
    refused(quality(), spec_of("ar", {{"records", whole(31)}}, Provenance::measured));
}

TEST_F(PlatoExperiments, SignTestByHand) {
    const SignTest test = sign_test({1, 1, 1, 1, 5, 2}, {2, 2, 2, 2, 4, 2});
    EXPECT_EQ(test.wins, 4);
    EXPECT_EQ(test.losses, 1);
    EXPECT_EQ(test.ties, 1);
    EXPECT_DOUBLE_EQ(test.net_win_rate(), 0.5);
    EXPECT_NEAR(test.p(), 2 * 6.0 / 32, 1e-12);  // five throws, at most one of a kind
    EXPECT_EQ(sign_test({1, 2}, {2, 1}).p(), 1);
}

TEST_F(PlatoExperiments, CostsOfStepsAreFoundAgain) {
    std::vector<LiveStep> steps;
    for (int i = 0; i < 40; ++i)
        steps.push_back(
            {.prefilled = i % 7 == 0 ? 30 + i : 0, .sequences = 1 + i % 5, .seconds = 0});
    for (LiveStep& step : steps)
        step.seconds =
            1e-3 * (10 + 2.5 * step.sequences + 0.75 * static_cast<double>(step.prefilled));
    StepCosts costs = fitted_costs(steps);
    EXPECT_NEAR(costs.step_ms, 10, 1e-6);
    EXPECT_NEAR(costs.sequence_ms, 2.5, 1e-6);
    EXPECT_NEAR(costs.prefill_ms, 0.75, 1e-6);
    for (LiveStep& step : steps) step.sequences = 1;  // one at a time: C1 cannot be told from C0
    for (LiveStep& step : steps)
        step.seconds = 1e-3 * (12 + 0.5 * static_cast<double>(step.prefilled));
    costs = fitted_costs(steps);
    EXPECT_NEAR(costs.step_ms, 12, 1e-6);
    EXPECT_EQ(costs.sequence_ms, 0);
    EXPECT_NEAR(costs.prefill_ms, 0.5, 1e-6);
}

class PlatoOnSmolLM2 : public PlatoExperiments {
  protected:
    void SetUp() override {
        const char* const model = std::getenv("ASSAY_TEST_MODEL");
        if (!model)
            GTEST_SKIP() << "needs ASSAY_TEST_MODEL, the GGUF file of SmolLM2-135M-Instruct";
        std::filesystem::create_symlink(model, folder / "smollm2-135m-instruct-q4_1.gguf");
        setenv("ASSAY_DATA", folder.path().c_str(), 1);
        std::ofstream(plans)
            << R"({"id":"three","question_tokens":7,"static_plan_tokens":30,)"
               R"("static_node_tokens":20,"nodes":[)"
               R"({"i":1,"line_tokens":5,"lead_tokens":3,"out_tokens":6,"deps":[],"text":"It is."},)"
               R"({"i":2,"line_tokens":4,"lead_tokens":2,"out_tokens":5,"deps":[1]},)"
               R"({"i":3,"line_tokens":4,"lead_tokens":2,"out_tokens":4,"deps":[1]}]})";
    }
    Metrics kv_at(const std::string& mode, const std::string& level) const {
        return run(kv(), spec_of(mode,
                                 {{"plans", plans},
                                  {"kv", level},
                                  {"model", word("smollm2-135m-instruct")},
                                  {"device", word("cpu")}},
                                 Provenance::measured));
    }

    assay::testing::TemporaryFolder folder;
    const std::string plans = (folder / "plans.jsonl").string();
};

// The first thing that was wanted of it: a recorded plan of three nodes, with equal bits and the
// counters of `assay plan plato --warm`.
TEST_F(PlatoOnSmolLM2, ARecordedPlanHasEqualBitsAndThePlansCounters) {
    std::ifstream in(plans);
    const PlanRecord plan = read_plans(in, plans).front();
    for (const char* const mode : {"ar", "plato"}) {
        std::optional<double> crc;
        for (const char* const level : {"L0", "L2"}) {
            const Metrics found = kv_at(mode, level);
            const Schedule expected = schedule(plan, {},
                                               {.mode = of_word<Mode>(mode).value(),
                                                .reuse = of_word<KvReuse>(level).value(),
                                                .warm = true});
            EXPECT_EQ(found.at("prompt_tokens"), static_cast<double>(expected.prompt_tokens));
            EXPECT_EQ(found.at("recomputed_tokens"),
                      static_cast<double>(expected.recomputed_tokens));
            EXPECT_EQ(found.at("plan_tokens"), static_cast<double>(expected.plan_tokens));
            EXPECT_EQ(found.at("answer_tokens"), static_cast<double>(expected.answer_tokens));
            EXPECT_EQ(found.at("held_blocks"), 0);
            if (!crc) crc = found.at("answers_crc32");
            EXPECT_EQ(found.at("answers_crc32"), *crc) << mode;
        }
    }
}

// On two processes the text is the same, and what is computed on one.
TEST_F(PlatoOnSmolLM2, EnginesInProcessesGiveTheSameBits) {
    const LiveModel model;
    std::ifstream in(plans);
    const auto questions = drawn_tokens(read_plans(in, plans), model.tokenizer(), 1);
    for (const char* const level : {"L2", "L3"}) {
        const Metrics here = kv_at("plato", level);
        const LiveRun one = model.run_on_processes(
            questions, {.answer = {.reuse = of_word<KvReuse>(level).value()}}, 1);
        const Metrics two = run(kv(), spec_of("plato",
                                              {{"plans", plans},
                                               {"kv", word(level)},
                                               {"engines", whole(2)},
                                               {"model", word("smollm2-135m-instruct")},
                                               {"device", word("cpu")}},
                                              Provenance::measured));
        EXPECT_EQ(one.answers_crc32, here.at("answers_crc32")) << level;
        EXPECT_EQ(two.at("answers_crc32"), here.at("answers_crc32")) << level;
        const LiveAnswer& answer = one.answers.at(0);
        EXPECT_EQ(static_cast<double>(answer.prompt_tokens), here.at("prompt_tokens")) << level;
        EXPECT_EQ(static_cast<double>(answer.recomputed_tokens), here.at("recomputed_tokens"))
            << level;
        EXPECT_EQ(static_cast<double>(answer.plan_tokens), here.at("plan_tokens")) << level;
        EXPECT_EQ(static_cast<double>(answer.answer_tokens), here.at("answer_tokens")) << level;
        EXPECT_EQ(one.held_blocks, 0);
        EXPECT_EQ(two.at("held_blocks"), 0);
    }
}

TEST_F(PlatoOnSmolLM2, WithTheGrammarEveryPlanIsValid) {
    const Metrics found =
        run(x_planner(), spec_of("grammar", {{"records", whole(1)}}, Provenance::measured));
    EXPECT_EQ(found.at("valid_share"), 1);
    EXPECT_EQ(found.at("mended_per_plan"), 0);
    EXPECT_GE(found.at("nodes"), 3);
}

}  // namespace
}  // namespace assay::plato
