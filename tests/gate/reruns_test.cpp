// Reruns that cannot be made any more.
#include "suite/gate/reruns.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <map>

#include "suite/base/sha256.hpp"
#include "tests/base/temporary_folder.hpp"

namespace assay::gate {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Experiment reads(const std::string& id, const std::filesystem::path& file,
                 const std::string& sha256) {
    Experiment experiment;
    experiment.id = id;
    experiment.title = "Reads a file";
    experiment.source = "none";
    experiment.says = "For the tests of reruns.";
    experiment.variants = {"only"};
    experiment.metrics = {{"seconds", "s", "time", Direction::lower, false, {}}};
    ProfilePlan toy;
    toy.provenances = {Provenance::measured};
    experiment.profiles = {toy};
    experiment.figure = {Figure::Kind::bars, "seconds", "variant", {}, "", "", false};
    experiment.inputs = [file, sha256](const SampleSpec&) {
        return std::vector<Input>{{"corpus", file, sha256}};
    };
    experiment.run = [](const SampleSpec&, Recorder&) {};
    return experiment;
}

/// Three candidates whose input was changed since: a rerun is asked for, in its turn, and not made.
class RerunCandidates : public ::testing::Test {
  protected:
    RerunCandidates() {
        std::ofstream(folder / "corpus") << "other words";
        System system;
        system.id = "night";
        system.title = "For the tests of reruns";
        system.paper = "none";
        const std::string known = sha256_hex("some words");
        for (const char* id : ids)
            system.experiments.push_back(reads(id, folder / "corpus", known));
        registry.add(std::move(system));
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows[i].candidate = true;
            rows[i].against_baseline.id = {ids[i], "only", {}, "seconds"};
            rows[i].against_baseline.a = rows[i].against_baseline.b = &values;
        }
        request.old_program = [](const NightRow&) { return std::filesystem::path(); };
        request.open_before = [this](const NightRow& row) { return open_before[&row]; };
    }
    /// The experiments in the order of their reruns.
    std::vector<std::string> order() {
        std::vector<std::string> order;
        for (const std::string& sentence : run().warnings) order.push_back(sentence.substr(6, 3));
        return order;
    }
    RerunOutcome run() { return rerun_candidates(registry, store, request, rows, {}); }

    static constexpr std::array<const char*, 3> ids = {"night/one", "night/two", "night/six"};
    const assay::testing::TemporaryFolder folder;
    Registry registry;
    store::Store store = store::Store::open(folder / "results.db", store::Access::write);
    compare::Series values;
    std::vector<NightRow> rows{3};
    std::map<const NightRow*, int> open_before;
    RerunRequest request;
};

TEST_F(RerunCandidates, WhatWaitedComesFirstAndAmongEqualsAnotherOneEveryNight) {
    EXPECT_THAT(order(), ElementsAre("one", "six", "two"));
    request.turn = 1;
    EXPECT_THAT(order(), ElementsAre("six", "two", "one"));
    request.turn = 5;
    EXPECT_THAT(order(), ElementsAre("two", "one", "six"));
    open_before[&rows[2]] = 1;
    EXPECT_THAT(order(), ElementsAre("six", "two", "one"));
    open_before[&rows[0]] = 2;
    EXPECT_THAT(order(), ElementsAre("one", "six", "two"));
    rows[0].candidate = rows[2].candidate = false;
    rows[0].rerun_for_mean = rows[2].rerun_for_mean = true;
    EXPECT_THAT(order(), ElementsAre("two", "one", "six")) << "candidates before the mean";
}

TEST_F(RerunCandidates, EachHasAnEqualShareOfWhatIsLeftHoweverLongOneWaited) {
    open_before[&rows[1]] = 5;
    request.budget_s = 3000;  // none of which these take
    std::vector<double> shares;
    std::vector<std::string> order;
    const auto listen = [&](const runner::Notice& notice) {
        if (notice.kind != "rerun") return;
        shares.push_back(notice.body.at("share_s"));
        order.push_back(notice.body.at("row").get<std::string>().substr(6, 3));
    };
    rerun_candidates(registry, store, request, rows, listen);
    EXPECT_THAT(order, ElementsAre("two", "one", "six"));
    const auto about = [](double share) { return ::testing::DoubleNear(share, 30); };
    EXPECT_THAT(shares, ElementsAre(about(1000), about(1500), about(3000)));
}

TEST_F(RerunCandidates, WhatTheBudgetLeavesUndecidedIsNamed) {
    request.budget_s = 0;
    rows[1].candidate = rows[2].candidate = false;
    EXPECT_THAT(run().warnings,
                ElementsAre("1 candidate is undecided, since the rerun budget of 0 s was spent: "
                            "night/one only · seconds; it comes first in the next night"));
    EXPECT_TRUE(rows[0].budget_ended);
    for (NightRow& row : rows) row.candidate = true;
    open_before[&rows[1]] = open_before[&rows[2]] = 3;
    EXPECT_THAT(run().warnings,
                ElementsAre(AllOf(HasSubstr("3 candidates are undecided"), HasSubstr("night/six"),
                                  HasSubstr("they come first"),
                                  HasSubstr("2 of them had no verdict in the night before either: "
                                            "the budget is too small"))));
    for (NightRow& row : rows) row.candidate = false, row.rerun_for_mean = true;
    EXPECT_THAT(run().warnings, ElementsAre(HasSubstr("3 of them could not be rerun")));
}

TEST_F(RerunCandidates, AGroupWhoseInputsWereChangedStaysWithoutRerunAndTheOthersGoOn) {
    rows.pop_back();
    const RerunOutcome outcome = run();
    EXPECT_THAT(outcome.warnings,
                ElementsAre(AllOf(HasSubstr("night/one"), HasSubstr("not rerun"),
                                  HasSubstr("was changed or damaged")),
                            AllOf(HasSubstr("night/two"), HasSubstr("not rerun"))));
    for (const NightRow& row : rows) EXPECT_FALSE(row.rerun.has_value());
    EXPECT_FALSE(outcome.interrupted);
    EXPECT_TRUE(store.sessions().empty());
}

}  // namespace
}  // namespace assay::gate
