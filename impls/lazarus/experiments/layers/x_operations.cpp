// What the operations of a training step take on this machine: samples for `assay calibrate fit`.
#include "impls/lazarus/experiments/experiments.hpp"

#include <fmt/format.h>

#include "impls/lazarus/tensor_functions.hpp"
#include "impls/tensors/needs.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"
#include "suite/scenario/operation_metrics.hpp"

namespace assay::lazarus {
namespace {

void validate(const SampleSpec& spec) {
    if (const auto width = integer_axis(spec, "width", 16, 4096); width % 16 != 0)
        throw UserError(fmt::format("axis width: {} is no multiple of 16", width));
    integer_axis(spec, "sequences", 1, 1024);
}

void run(const SampleSpec& spec, Recorder& recorder) {
    train_in_tensors([&](const TensorFunctions& tensors, const std::filesystem::path& text) {
        tensors.run_x_operations(spec, text, recorder);
    });
}

}  // namespace

Experiment x_operations() {
    Experiment e;
    e.id = "lazarus/x_operations";
    e.title = "What the operations of a training step take here";
    e.source = "our own addition";
    e.says =
        "One worker trains a small mixture-of-experts model on its own, on all processors, at "
        "several sizes. What each of its operations took is stored beside the work that the cost "
        "model counts for it, so that `assay calibrate fit lazarus/x_operations` can say what "
        "share of the machine's roofline each reaches, and how well the model's counts describe "
        "it. The backward pass is timed as a whole: the cost model takes it for twice the forward "
        "pass.";
    e.axes = {{"width",
               "of the model; an expert's hidden layer is four times as wide",
               {std::int64_t{64}, std::int64_t{128}, std::int64_t{256}},
               true},
              {"sequences",
               "of 64 tokens, per step",
               {std::int64_t{4}, std::int64_t{16}, std::int64_t{64}},
               true}};
    e.variants = {"lazarus"};
    e.metrics = operation_metrics();
    e.metrics.push_back({"backward_over_forward",
                         "ratio",
                         "time of the backward pass over that of the forward computing; the cost "
                         "model takes 2",
                         Direction::none,
                         false,
                         {},
                         {}});
    ProfilePlan toy;
    toy.provenances = {Provenance::measured};
    toy.seconds_per_sample = 4;
    e.profiles = {toy};
    e.figure = {Figure::Kind::lines,  "operation_s", "sequences", {"width"},
                "sequences per step", "seconds",     true};
    e.validate = validate;
    e.unsupported = [](const SampleSpec&) { return tensors::lacks(tensors::Needs::text); };
    e.inputs = [](const SampleSpec&) { return tensors::inputs_of(tensors::Needs::text); };
    e.run = run;
    return e;
}

}  // namespace assay::lazarus
