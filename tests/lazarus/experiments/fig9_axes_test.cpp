// lazarus/fig9 on other slots, placements and traces: what a request becomes, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "impls/lazarus/register.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/runner/runner.hpp"
#include "tests/base/temporary_folder.hpp"

namespace assay::lazarus {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LazarusFig9Axes : public ::testing::Test {
  protected:
    testing::TemporaryFolder folder;
    testing::EnvironmentVariable data{"ASSAY_DATA", folder.path().string()};
    Registry registry;
    runner::Request request;

    LazarusFig9Axes() {
        registry.add(make_system(Claims::leave));
        request.patterns = {"lazarus/fig9"};
        request.variants = {"lazarus"};
        request.axes = {{"model", {"gpt-s"}}, {"relaunch_s", {std::int64_t{60}}}};
    }
    std::vector<Case> cases() const {
        std::vector<Case> found;
        for (const auto& sample : runner::make_plan(registry, request).samples)
            found.push_back(sample.spec.axes);
        return found;
    }
    std::string refusal() const {
        try {
            runner::make_plan(registry, request);
        } catch (const UserError& error) {
            return error.what();
        }
        return "none";
    }
    std::string routing(int layers, int experts) const {
        const std::string file = (folder / "routing.csv").string();
        std::ofstream out(file);
        out << "iteration,layer";
        for (int e = 0; e < experts; ++e) out << ",e" << e;
        for (int layer = 0; layer < layers; ++layer) {
            out << "\n1," << layer;
            for (int e = 0; e < experts; ++e) out << ',' << 100 + 7 * e;
        }
        out << '\n';
        return file;
    }
};

// Series made before these axes existed are found again: a series' name has all axes of its case.
TEST_F(LazarusFig9Axes, AsThePaperHasItTheCaseIsWhatItWasBefore) {
    std::set<std::string> names;
    for (const auto& [name, value] : cases().at(0)) names.insert(name);
    EXPECT_THAT(names, ElementsAre("cluster", "floor", "mapping", "minutes", "model",
                                   "modelled_steps", "nodes", "relaunch_s", "spot", "trace"));
    const std::vector<Case> before = cases();
    request.axes["slots"] = {std::int64_t{6}};
    request.axes["placement"] = {"mro"};
    request.axes["overlap"] = {std::int64_t{0}};
    EXPECT_EQ(cases(), before);
}

TEST_F(LazarusFig9Axes, OtherSlotsAndPlacementsAreCasesOfTheirOwn) {
    request.axes["slots"] = {std::int64_t{6}, std::int64_t{8}};
    request.axes["placement"] = {"mro_guarded"};
    const std::vector<Case> found = cases();
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].count("slots"), 0U);
    EXPECT_EQ(found[1].at("slots"), Value(std::int64_t{8}));
    EXPECT_EQ(found[1].at("placement"), Value("mro_guarded"));
}

TEST_F(LazarusFig9Axes, OverlapIsAShareAndACaseOfItsOwn) {
    request.axes["overlap"] = {0.0, 0.25, std::int64_t{1}};
    const std::vector<Case> found = cases();
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].count("overlap"), 0U);
    EXPECT_EQ(found[1].at("overlap"), Value(0.25));
    EXPECT_EQ(found[2].at("overlap"), Value(1.0)) << "as it is declared";
    for (const double overlap : {-0.1, 1.5}) {
        request.axes["overlap"] = {overlap};
        EXPECT_THAT(refusal(), HasSubstr("axis overlap needs a number from 0 to 1"));
    }
    request.axes["overlap"] = {"all"};
    EXPECT_THAT(refusal(), HasSubstr("axis overlap"));
}

// The steps are shorter with it, and nothing else of the trace changes.
TEST_F(LazarusFig9Axes, OverlapMakesSimulatedStepsShorter) {
    request.provenance = Provenance::simulated;
    request.axes["trace"] = {"synthetic"};
    request.axes["overlap"] = {0.0, 1.0};
    std::vector<double> step_s, samples, deaths;
    for (const auto& sample : runner::make_plan(registry, request).samples) {
        MemoryRecorder recorder;
        sample.experiment->run(sample.spec, recorder);
        step_s.push_back(recorder.value("step_s"));
        samples.push_back(recorder.value("samples_total"));
        deaths.push_back(recorder.value("deaths"));
    }
    ASSERT_EQ(step_s.size(), 2U);
    EXPECT_LT(step_s[1], 0.95 * step_s[0]);
    EXPECT_GT(samples[1], samples[0]);
    EXPECT_EQ(deaths[1], deaths[0]);
}

// The paper's claims speak of the paper's settings.
TEST_F(LazarusFig9Axes, OtherSlotsAreNoEvidenceAndOldResultsAre) {
    Claim claim;
    claim.id = "lazarus/fig9/more";
    claim.experiment = "lazarus/fig9";
    claim.metric = "samples_total";
    claim.of.variant = "lazarus";
    claim.test.name = "at_least";
    claim.value = 10;
    claim.checkable = {{"toy", "emulated"}};
    Observation seen;
    seen.experiment = "lazarus/fig9";
    seen.variant = "lazarus";
    seen.metric = "samples_total";
    seen.axes = cases().at(0);
    seen.provenance = Provenance::emulated;
    seen.value = 11;
    const auto verdict = [&] {
        return check_claim(registry, claim, std::vector<Observation>{seen}).verdict;
    };
    EXPECT_EQ(verdict(), ClaimVerdict::supported);
    seen.axes["slots"] = std::int64_t{8};
    EXPECT_NE(verdict(), ClaimVerdict::supported);
}

TEST_F(LazarusFig9Axes, RefuseWhatCannotHoldTheModel) {
    request.axes["slots"] = {std::int64_t{0}};
    EXPECT_THAT(refusal(), HasSubstr("axis slots needs a whole number from 1 to 64"));
    request.axes["slots"] = {std::int64_t{1}};
    request.axes["nodes"] = {std::int64_t{4}};
    EXPECT_THAT(refusal(),
                HasSubstr("4 nodes with 1 slots each cannot hold the 8 experts of gpt-s"));
    request.axes.erase("slots");
    request.axes["placement"] = {"spread"};
    EXPECT_THAT(refusal(), HasSubstr("its values: mro, mro_guarded"));
}

TEST_F(LazarusFig9Axes, TakeARoutingFileOfTheUsersOwn) {
    request.axes["trace"] = {routing(6, 16)};
    EXPECT_EQ(refusal(), "none");
    request.axes["trace"] = {routing(2, 16)};
    EXPECT_THAT(refusal(), HasSubstr("no layer 2 at iteration 1"));
    request.axes["trace"] = {routing(6, 4)};
    EXPECT_THAT(refusal(), HasSubstr("has 4 experts, the model 8"));
    request.axes["trace"] = {(folder / "absent.csv").string()};
    EXPECT_THAT(refusal(), HasSubstr("axis trace: no file"));
}

}  // namespace
}  // namespace assay::lazarus
