// Where datasets/ is found, and what is said when it is not.
#include <gtest/gtest.h>

#include <cstdlib>

#include "suite/base/datasets.hpp"
#include "suite/base/error.hpp"

namespace {

// Sets ASSAY_DATASETS for one test and puts back what was there.
class DatasetsVariable {
  public:
    explicit DatasetsVariable(const char* value) {
        if (const char* now = std::getenv("ASSAY_DATASETS")) before_ = now;
        value ? setenv("ASSAY_DATASETS", value, 1) : unsetenv("ASSAY_DATASETS");
    }
    ~DatasetsVariable() {
        before_.empty() ? unsetenv("ASSAY_DATASETS") : setenv("ASSAY_DATASETS", before_.c_str(), 1);
    }

  private:
    std::string before_;
};

}  // namespace

TEST(Datasets, IsFoundFromTheProgram) {
    const DatasetsVariable none(nullptr);
    EXPECT_TRUE(std::filesystem::exists(assay::datasets_dir() / "claims" / "lazarus.toml"));
}

TEST(Datasets, TheVariableWins) {
    const auto folder = std::filesystem::path(testing::TempDir()) / "assay_datasets_test";
    std::filesystem::create_directories(folder / "claims");
    {
        const DatasetsVariable given(folder.c_str());
        EXPECT_EQ(assay::datasets_dir(), folder);
    }
    std::filesystem::remove_all(folder);
}

TEST(Datasets, AWrongVariableIsAnErrorNotAFallBack) {
    const DatasetsVariable wrong("/nowhere/at/all");
    try {
        assay::datasets_dir();
        FAIL() << "accepted";
    } catch (const assay::UserError& error) {
        EXPECT_NE(std::string(error.what()).find("/nowhere/at/all"), std::string::npos);
    }
}
