// Which of the user's files the samples of each experiment read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "impls/lazarus/register.hpp"
#include "tests/base/temporary_folder.hpp"

namespace assay::lazarus {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LazarusInputFiles : public ::testing::Test {
  protected:
    testing::TemporaryFolder folder;
    testing::EnvironmentVariable data{"ASSAY_DATA", folder.path().string()};
    const System system = make_system();

    LazarusInputFiles() {
        for (const char* file : {"bible-kjv.txt", "smartmoe_expert_loads.csv"})
            std::ofstream(folder / file) << "x";
    }
    std::vector<std::string> inputs(const std::string& id, const std::string& trace,
                                    Provenance provenance) const {
        SampleSpec spec;
        spec.axes["trace"] = trace;
        spec.provenance = provenance;
        std::vector<std::string> files;
        for (const Experiment& experiment : system.experiments) {
            if (experiment.id != id || !experiment.inputs) continue;
            spec.variant = experiment.variants.front();
            for (const Input& input : experiment.inputs(spec)) {
                EXPECT_EQ(input.sha256.size(), 64U) << "the catalogue knows it";
                files.push_back(input.file.filename().string());
            }
        }
        return files;
    }
};

TEST_F(LazarusInputFiles, AreTheRoutingTraceAndTheTextWhereASampleReadsThem) {
    const std::string text = "bible-kjv.txt", loads = "smartmoe_expert_loads.csv";
    EXPECT_THAT(inputs("lazarus/fig8", "smartmoe", Provenance::exact), ElementsAre(loads));
    EXPECT_THAT(inputs("lazarus/fig8", "synthetic", Provenance::exact), IsEmpty());
    EXPECT_THAT(inputs("lazarus/fig9", "smartmoe", Provenance::emulated), ElementsAre(loads, text));
    EXPECT_THAT(inputs("lazarus/fig9", "synthetic", Provenance::emulated), ElementsAre(text));
    EXPECT_THAT(inputs("lazarus/tab2", "smartmoe", Provenance::exact), ElementsAre(loads));
    EXPECT_THAT(inputs("lazarus/tab2", "synthetic", Provenance::emulated), ElementsAre(text));
    EXPECT_THAT(inputs("lazarus/x_live", "", Provenance::measured), ElementsAre(text));
    EXPECT_THAT(inputs("lazarus/x_faults", "", Provenance::measured), ElementsAre(text));
    EXPECT_THAT(inputs("lazarus/fig4", "", Provenance::exact), IsEmpty());
}

TEST_F(LazarusInputFiles, ARoutingFileOfTheUsersOwnIsOne) {
    SampleSpec spec;
    spec.axes["trace"] = (folder / "mine.csv").string();
    for (const Experiment& experiment : system.experiments) {
        if (experiment.id != "lazarus/fig9") continue;
        const std::vector<Input> files = experiment.inputs(spec);
        ASSERT_FALSE(files.empty());
        EXPECT_EQ(files[0].file, folder / "mine.csv");
        EXPECT_EQ(files[0].sha256, "");
    }
}

TEST_F(LazarusInputFiles, ThatHaveNotBeenFetchedAreNone) {
    std::filesystem::remove(folder / "smartmoe_expert_loads.csv");
    EXPECT_THAT(inputs("lazarus/fig8", "smartmoe", Provenance::exact), IsEmpty());
}

}  // namespace
}  // namespace assay::lazarus
