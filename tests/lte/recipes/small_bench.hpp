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
        spec_.experiment = "lte/test";
        spec_.axes["model"] = model;
        spec_.axes["corpus"] = std::string("bible-kjv");
        spec_.shared = (data_.path() / "shared").string();
    }

    /// A sample that keeps its states in a folder of that name (empty: nowhere).
    SampleSpec spec(const std::string& variant, const std::string& state = {}) const {
        auto spec = spec_;
        spec.variant = variant;
        if (!state.empty()) spec.state = (data_.path() / state).string();
        return spec;
    }

  private:
    testing::TemporaryFolder data_;
    testing::EnvironmentVariable where_{"ASSAY_DATA", data_.path().string()};
    SampleSpec spec_;
};

}  // namespace assay::lte
