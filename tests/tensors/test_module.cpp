#include <nlohmann/json.hpp>

#include "suite/base/error.hpp"
#include "suite/experiment/recorder.hpp"
#include "tests/tensors/test_functions.hpp"

namespace assay::tensors {
namespace {

void run(const SampleSpec& spec, Recorder& recorder) {
    if (spec.variant == "SampleError") throw SampleError(SampleStatus::invalid, "too slow");
    if (spec.variant == "NotSupportedHere") throw NotSupportedHere("no GPU");
    if (spec.variant == "UserError") throw UserError("no such model");
    recorder.metric("m", 2, {{"layer", std::int64_t{1}}});
    recorder.event("fault", 0.5, 3, {{"kind", "kill"}});
}

}  // namespace
}  // namespace assay::tensors

extern "C" {
extern const assay::tensors::TestFunctions assay_test_tensors;
const assay::tensors::TestFunctions assay_test_tensors{assay::tensors::run};
}
