// What the tests' module offers.
#pragma once

#include "suite/experiment/experiment.hpp"

namespace assay::tensors {

struct TestFunctions {
    static constexpr const char* symbol = "assay_test_tensors";
    /// Ends as `variant` says.
    void (*run)(const SampleSpec&, Recorder&);
};

}  // namespace assay::tensors
