// The claim file against itself and against the experiments that rest on the paper's numbers: what
// is printed there is what they take, the arithmetic on it is right, and nothing that follows from
// it reads supported.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "impls/foundry/experiments/experiments.hpp"
#include "impls/foundry/experiments/paper_costs.hpp"
#include "suite/claim/claim.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::foundry {
namespace {

class FoundryClaims : public ::testing::Test {
  protected:
    FoundryClaims()
        : claims_(
              read_claims(std::filesystem::path(ASSAY_TEST_DATASETS) / "claims" / "foundry.toml")) {
        for (const Claim& claim : claims_) by_id_[claim.id] = &claim;
    }

    const Claim& claim(const std::string& id) const { return *by_id_.at("foundry/" + id); }
    double value(const std::string& id) const { return claim(id).value.value(); }

    /// The samples of a plain run, as a store would give them.
    static std::vector<Observation> observed(const Experiment& experiment) {
        std::vector<Observation> all;
        const std::string first = experiment.axes.front().name;
        for (const std::string& variant : experiment.variants)
            for (const Value& value : experiment.axes.front().values) {
                SampleSpec spec;
                spec.experiment = experiment.id;
                spec.variant = variant;
                spec.axes[first] = value;
                if (experiment.axis("members")) spec.axes["members"] = std::string("with");
                MemoryRecorder recorder;
                experiment.run(spec, recorder);
                const nlohmann::json taken = experiment.calibration(spec);
                for (const auto& metric : recorder.metrics) {
                    Observation& one = all.emplace_back();
                    one.experiment = spec.experiment;
                    one.variant = variant;
                    one.axes = spec.axes;
                    one.profile = Profile::paper;
                    one.provenance = Provenance::simulated;
                    one.metric = metric.name;
                    one.labels = metric.labels;
                    one.value = metric.value;
                    one.seed = 1;
                    one.fitted_from = taken.at("fitted_from");
                }
            }
        return all;
    }

    std::vector<Claim> claims_;
    std::map<std::string, const Claim*> by_id_;
};

TEST_F(FoundryClaims, EachSaysWhereItWasRead) {
    EXPECT_GT(claims_.size(), 150u);
    for (const Claim& claim : claims_) {
        EXPECT_TRUE(claim.evidence) << claim.id;
        EXPECT_TRUE(claim.id.starts_with("foundry/")) << claim.id;
    }
    EXPECT_EQ(claim("coldstart/abstract/reduction").evidence, Evidence::abstract);
    EXPECT_EQ(claim("fig10/capture/least").evidence, Evidence::digest);
    EXPECT_EQ(claim("coldstart/eager/qwen3-235b-a22b-ep8").evidence, Evidence::one_digest);
    EXPECT_EQ(claim("x_penalty/threshold").evidence, Evidence::code);
    EXPECT_EQ(claim("coldstart/vllm/qwen3-14b-dp1").evidence, Evidence::inference);
}

TEST_F(FoundryClaims, ArithmeticIsRight) {
    const std::string vllm = "coldstart/vllm/", foundry = "coldstart/foundry/";
    const std::string checkpoint = "coldstart/checkpoint/", fig10 = "fig10/";
    const auto of = [&](const std::string& one, const std::string& other) {
        return value(one) / value(other);
    };
    const auto saved = [&](const std::string& configuration) {
        return 1 - of(foundry + configuration, vllm + configuration);
    };
    const auto on_demand = [&](const std::string& model) {
        return 1 - value("fig11/templates/" + model) / paper_graphs;
    };
    const std::string large = "qwen3-235b-a22b-ep8", cold = "coldstart/arithmetic/";
    const std::map<std::string, double> computed{
        {cold + "times/qwen3-14b-dp8", of(vllm + "qwen3-14b-dp8", foundry + "qwen3-14b-dp8")},
        {cold + "times/qwen3-30b-a3b-ep8",
         of(vllm + "qwen3-30b-a3b-ep8", foundry + "qwen3-30b-a3b-ep8")},
        {cold + "times/" + large, of(vllm + large, foundry + large)},
        {cold + "reduction/" + large, saved(large)},
        {cold + "reduction/llama3-8b-dp1", saved("llama3-8b-dp1")},
        {cold + "reduction/gemma3-12b-dp1", saved("gemma3-12b-dp1")},
        {cold + "checkpoint/over-foundry/most",
         of(checkpoint + "restore/least", checkpoint + "foundry/least")},
        {cold + "checkpoint/over-foundry/least",
         of(checkpoint + "restore/most", checkpoint + "foundry/most")},
        {cold + "checkpoint/over-vllm/least",
         of(vllm + "llama3-8b-dp1", checkpoint + "restore/least")},
        {cold + "checkpoint/over-vllm/most",
         of(vllm + "gemma3-12b-dp1", checkpoint + "restore/least")},
        {cold + "graph/qwen3-235b-a22b", value(vllm + large) / paper_graphs},
        {cold + "captures/qwen3-30b-a3b",
         1e-3 * paper_graphs * value(fig10 + "qwen3-30b-a3b/capture")},
        {cold + "captures/least", 1e-3 * paper_graphs * value(fig10 + "capture/least")},
        {cold + "templates/qwen3-14b",
         1e-3 * value("fig11/templates/qwen3-14b") * value(fig10 + "build/least")},
        {cold + "sequential", 1e-3 * paper_graphs * value(fig10 + "build/most")},
        {fig10 + "arithmetic/update-gain/least", of(fig10 + "build/most", fig10 + "update/most")},
        {fig10 + "arithmetic/update-gain/most", of(fig10 + "build/least", fig10 + "update/least")},
        {fig10 + "arithmetic/conflict", of(fig10 + "qwen3-30b-a3b/build", fig10 + "update/least")},
        {"fig11/arithmetic/qwen3-14b", on_demand("qwen3-14b")},
        {"fig11/arithmetic/qwen3-32b", on_demand("qwen3-32b")},
        {"fig11/arithmetic/qwen3-235b-a22b", on_demand("qwen3-235b-a22b")}};
    std::size_t arithmetic = 0;
    for (const Claim& one : claims_) {
        if (one.kind != ClaimKind::arithmetic) continue;
        ++arithmetic;
        const auto found = computed.find(one.id.substr(std::string("foundry/").size()));
        ASSERT_NE(found, computed.end()) << one.id;
        // As printed: to three digits.
        EXPECT_NEAR(found->second, *one.value, 0.004 * *one.value) << one.id;
    }
    EXPECT_EQ(arithmetic, computed.size());
}

TEST_F(FoundryClaims, ExperimentsTakeWhatIsPrinted) {
    for (const PaperModel model : values_of<PaperModel>) {
        const std::string name(to_string(model));
        const nlohmann::json taken = paper_costs_json(model, 8);
        for (const std::string id : taken.at("fitted_from")) EXPECT_TRUE(by_id_.contains(id)) << id;
        const bool most = model == PaperModel::qwen3_30b_a3b;
        const nlohmann::json captured{value(most ? "fig10/capture/most" : "fig10/capture/least"),
                                      value("fig10/capture/most")};
        const nlohmann::json built{value(most ? "fig10/build/most" : "fig10/build/least"),
                                   value("fig10/build/most")};
        EXPECT_EQ(taken.at("capture_ms"), captured) << name;
        EXPECT_EQ(taken.at("build_and_instantiate_ms"), built) << name;
        EXPECT_EQ(taken.at("update_ms"),
                  (nlohmann::json{value("fig10/update/least"), value("fig10/update/most")}));
        EXPECT_EQ(taken.at("instantiate_ms"), value("fig10/instantiate"));
        EXPECT_EQ(taken.at("rewrite_ms"), value("fig10/rewrite"));
        const auto own = by_id_.find("foundry/fig11/templates/" + name);
        ASSERT_EQ(own != by_id_.end(), paper_templates(model).has_value()) << name;
        if (own != by_id_.end()) {
            EXPECT_EQ(*own->second->value, *paper_templates(model));
        }
    }
    const Experiment shares = fig1();
    for (const Value& configuration : shares.axes.front().values) {
        SampleSpec spec;
        spec.variant = "vllm";
        spec.axes["configuration"] = configuration;
        const nlohmann::json taken = shares.calibration(spec);
        for (const std::string id : taken.at("fitted_from")) ASSERT_TRUE(by_id_.contains(id)) << id;
        const std::string own = "coldstart/vllm/" + assay::to_string(configuration);
        if (by_id_.contains("foundry/" + own)) {
            EXPECT_EQ(taken.at("initialisation_s"), nlohmann::json({value(own), value(own)}));
        } else {
            EXPECT_EQ(assay::to_string(configuration), "qwen3-14b-dp2");
            EXPECT_EQ(taken.at("initialisation_s"),
                      nlohmann::json({value("coldstart/vllm/qwen3-14b-dp1"),
                                      value("coldstart/vllm/qwen3-14b-dp8")}));
        }
    }
}

// Holding follows from the paper's own numbers: no evidence for the paper.
TEST_F(FoundryClaims, WhatRestsOnThePapersNumbersIsNeverSupported) {
    std::map<std::string, std::vector<Observation>> seen{
        {"foundry/coldstart", observed(coldstart())}, {"foundry/fig1", observed(fig1())}};
    std::map<std::string, ClaimVerdict> verdicts;
    for (const Claim& one : claims_) {
        if (one.test.name.empty()) continue;
        if (!seen.contains(one.experiment)) continue;
        const ClaimCheck result = check(one, seen.at(one.experiment), {});
        verdicts[one.id] = result.verdict;
        const bool arithmetic = one.kind == ClaimKind::arithmetic;
        EXPECT_EQ(result.verdict, arithmetic ? ClaimVerdict::supported : ClaimVerdict::calibrated)
            << one.id << ": " << result.reason;
    }
    EXPECT_EQ(verdicts.size(), 5u);
}

double metric(const Experiment& experiment, const std::string& variant, const Case& axes,
              const std::string& name, const std::string& end) {
    SampleSpec spec;
    spec.variant = variant;
    spec.axes = axes;
    MemoryRecorder recorder;
    experiment.run(spec, recorder);
    return recorder.value(name, {{"end", end}});
}

TEST_F(FoundryClaims, BandsAreThoseOfTheRanges) {
    const Case on14b{{"model", std::string("qwen3-14b")}, {"members", std::string("with")}};
    const Experiment cold = coldstart();
    const auto ready = [&](const char* variant, const char* end) {
        return metric(cold, variant, on14b, "ready_s", end);
    };
    // 22 templates; on eight threads members are ready before them.
    EXPECT_NEAR(ready("r1", "least"), 0.10 + 22 * 0.0311, 1e-9);
    EXPECT_NEAR(ready("r1", "most"), 0.334 + 22 * 0.0695, 1e-9);
    EXPECT_NEAR(ready("r3_eager", "least"), 0.10 + 22 * 0.0311 + 490 * 0.0013, 1e-9);
    EXPECT_NEAR(ready("no_templates", "most"), 0.334 + 512 * 0.0695, 1e-9);
    EXPECT_NEAR(ready("capture", "least"), 512 * 0.0597, 1e-9);
    EXPECT_EQ(ready("lazy_capture", "most"), 0);
    EXPECT_NEAR(metric(cold, "r1", on14b, "first_launches_s", "most"), 490 * 0.00289, 1e-9);
    EXPECT_THROW(metric(cold, "lazy_capture", on14b, "capture_over", "least"), std::out_of_range);

    const Experiment share = fig1();
    const auto part = [&](const char* configuration, const char* end) {
        return metric(share, "vllm", {{"configuration", std::string(configuration)}}, "share", end);
    };
    EXPECT_NEAR(part("qwen3-14b-dp2", "least"), 512 * 0.0597 / 48, 1e-9);
    EXPECT_NEAR(part("qwen3-30b-a3b-ep8", "most"), 512 * 0.1986 / 154, 1e-9);
    // More than all of it: a number that was not recovered stays absent.
    EXPECT_THROW(part("llama3-8b-dp1", "least"), std::out_of_range);
    EXPECT_THROW(part("qwen3-14b-dp2", "most"), std::out_of_range);
}

}  // namespace
}  // namespace assay::foundry
