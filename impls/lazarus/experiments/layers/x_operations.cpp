// What the operations of a training step take on this machine: samples for `assay calibrate fit`.
#include "impls/lazarus/experiments/layers/x_operations.hpp"

#include <fmt/format.h>

#include "impls/lazarus/experiments/experiments.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/declaration.hpp"
#include "suite/scenario/operation_metrics.hpp"

namespace assay::lazarus {
namespace {

void check(const XOperations& operations) {
    if (operations.width % 16 != 0)
        throw UserError(fmt::format("axis width: {} is no multiple of 16", operations.width));
}

}  // namespace

Experiment x_operations() {
    Declaration<XOperations> operations(
        {.id = "lazarus/x_operations",
         .title = "What the operations of a training step take here",
         .source = "our own addition",
         .says =
             "One worker trains a small mixture-of-experts model on its own, on all processors, at "
             "several sizes. What each of its operations took is stored beside the work that the "
             "cost model counts for it, so that `assay calibrate fit lazarus/x_operations` can say "
             "what share of the machine's roofline each reaches, and how well the model's counts "
             "describe it. The backward pass is timed as a whole: the cost model takes it for "
             "twice the forward pass.",
         .variants = {"lazarus"},
         .metrics = operation_metrics(),
         .profiles = {{.provenances = {Provenance::measured}, .seconds_per_sample = 4}},
         .figure = {.kind = Figure::Kind::lines,
                    .metric = "operation_s",
                    .x = "sequences",
                    .panels = {"width"},
                    .x_title = "sequences per step",
                    .y_title = "seconds",
                    .log_y = true}});
    operations.rest.metrics.push_back(
        {.name = "backward_over_forward",
         .unit = "ratio",
         .says = "time of the backward pass over that of the forward computing; the cost "
                 "model takes 2"});
    operations.axis("width", &XOperations::width,
                    "of the model; an expert's hidden layer is four times as wide", {64, 128, 256},
                    between(16, 4096));
    operations.axis("sequences", &XOperations::sequences, "of 64 tokens, per step", {4, 16, 64},
                    between(1, 1024));
    operations.given(&XOperations::seed, &SampleSpec::seed);
    operations.given_to_run(&XOperations::corpus, tensors::training_text);
    operations.check(check);
    return operations.runs(time_operations);
}

}  // namespace assay::lazarus
