// Reruns that cannot be made any more.
#include "suite/gate/reruns.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

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

TEST(RerunCandidates, AGroupWhoseInputsWereChangedStaysWithoutRerunAndTheOthersGoOn) {
    const assay::testing::TemporaryFolder folder;
    std::ofstream(folder / "corpus") << "other words";
    System system;
    system.id = "night";
    system.title = "For the tests of reruns";
    system.paper = "none";
    const std::string known = sha256_hex("some words");
    system.experiments = {reads("night/one", folder / "corpus", known),
                          reads("night/two", folder / "corpus", known)};
    Registry registry;
    registry.add(std::move(system));
    store::Store store = store::Store::open(folder / "results.db", store::Access::write);
    compare::Series values;
    std::vector<NightRow> rows(2);
    for (NightRow& row : rows) {
        row.candidate = true;
        row.against_baseline.id = {
            &row == rows.data() ? "night/one" : "night/two", "only", {}, "seconds"};
        row.against_baseline.a = row.against_baseline.b = &values;
    }
    RerunRequest request;
    request.old_program = [](const NightRow&) { return std::filesystem::path(); };
    const RerunOutcome outcome = rerun_candidates(registry, store, request, rows, {});
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
