// A workbench on a short text of ours, which stands in the place of a corpus.
#pragma once

#include <fstream>
#include <string>

#include "impls/lte/recipes/sparse_model.hpp"
#include "suite/experiment/recorder.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/nn/training/toy_text.hpp"

namespace assay::lte {

class SmallBench {
  public:
    explicit SmallBench(const std::string& model = "gpt-tiny") {
        std::ofstream(data_.path() / "bible-kjv.txt") << nn::sums(2000);
        materials_.model = model;
        materials_.shared = (data_.path() / "shared").string();
    }

    /// Of a sample that keeps its states in a folder of that name (empty: nowhere).
    Materials materials(const std::string& state = {}) const {
        auto materials = materials_;
        if (!state.empty()) materials.state = (data_.path() / state).string();
        return materials;
    }
    /// Of half the sparsity, trained for so many steps.
    template <class Settings>
    Settings training(std::int64_t steps) const {
        Settings settings;
        static_cast<Materials&>(settings) = materials_;
        settings.steps = steps;
        settings.sparsity = 0.5;
        return settings;
    }

  private:
    testing::TemporaryFolder data_;
    testing::EnvironmentVariable where_{"ASSAY_DATA", data_.path().string()};
    Materials materials_;
};

}  // namespace assay::lte
