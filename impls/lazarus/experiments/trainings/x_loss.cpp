// What the loss does while the batch shrinks with the nodes: the paper shows no loss curve.
#include "impls/lazarus/experiments/experiments.hpp"

#include <fmt/format.h>

#include "impls/lazarus/tensor_functions.hpp"
#include "impls/tensors/needs.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/experiment.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::lazarus {
namespace {

void validate(const SampleSpec& spec) {
    integer_axis(spec, "workers_left", 2, integer_axis(spec, "workers", 2, 64));
    integer_axis(spec, "sequences", 2, 64);
    if (integer_axis(spec, "steps", 10, 1000000) % 10 != 0)
        throw UserError("axis steps: the curves have ten points; give a multiple of 10");
    if (const double rate = number_axis(spec, "learning_rate"); !(rate > 0 && rate <= 1))
        throw UserError(fmt::format("axis learning_rate: {} is not above 0 and at most 1", rate));
}

void run(const SampleSpec& spec, Recorder& recorder) {
    train_in_tensors([&](const TensorFunctions& tensors, const std::filesystem::path& text) {
        tensors.run_x_loss(spec, text, recorder);
    });
}

MetricSpec loss(std::string name, std::string says, std::vector<std::string> labels) {
    return {.name = std::move(name),
            .unit = "nat/byte",
            .says = std::move(says),
            .better = Direction::lower,
            .deterministic = true,
            .labels = std::move(labels),
            .only = {}};
}

}  // namespace

Experiment x_loss() {
    Experiment e;
    e.id = "lazarus/x_loss";
    e.title = "The loss while nodes are lost and the batch shrinks";
    e.source = "our own addition; the paper (arXiv 2407.04656v2) shows no loss curve";
    e.says =
        "Workers train a byte-level mixture-of-experts GPT on real text. After 40 % and 50 % of "
        "the sequences some are lost, half of those come back after 80 %. Lazarus' batch "
        "follows the workers (shrunk); held against it are a lower learning rate meanwhile (by the "
        "square root of the workers left, or in proportion) and the whole batch computed in "
        "several passes whose gradients are added up (batch_kept, which is the fault-free training "
        "but for rounding: what it differs by is the noise of the comparison). "
        "batch_kept_root_rate tells what a lower learning rate does by itself. All arms of a seed "
        "have the same initial weights and draw the same sequences for a step, of which a smaller "
        "batch takes the first; all see equally many sequences, so those with a smaller batch make "
        "more updates. The loss is taken on the last tenth of the text, which is not trained on, "
        "after equally many sequences and after equally many steps. Members come and go by plan, "
        "workers are threads: under real kills every step's loss is the same to the bit "
        "(tests/lazarus/experiments/x_loss_test.cpp).";
    e.axes = {{"workers", "at the start", {std::int64_t{4}}, true},
              {"workers_left", "at the worst", {std::int64_t{2}}, true},
              {"sequences", "per worker and pass, of 32 bytes", {std::int64_t{4}}, true},
              {"steps", "of the fault-free arm", {std::int64_t{300}}, true},
              {"learning_rate", "of Adam, constant; chosen for the fault-free arm", {2e-3}, true}};
    e.variants = {"fault_free",         "shrunk",     "shrunk_root_rate",
                  "shrunk_linear_rate", "batch_kept", "batch_kept_root_rate"};
    e.metrics = {
        loss("held_out_loss", "after so many training sequences", {"samples"}),
        loss("held_out_loss_by_step", "after so many updates", {"step"}),
        loss("over_fault_free", "held-out loss less that of fault_free with this seed",
             {"samples"}),
        loss("over_fault_free_by_step", "the same after equally many updates", {"step"}),
        loss("final_over_fault_free", "over_fault_free at the end", {}),
        {.name = "updates",
         .unit = "count",
         .says = "of the weights, over all sequences",
         .better = Direction::none,
         .deterministic = true,
         .labels = {},
         .only = {}},
        {.name = "passes",
         .unit = "count",
         .says = "the busiest worker's forward and backward passes of `sequences` sequences, one "
                 "after another: time but for reductions and updates",
         .better = Direction::lower,
         .deterministic = true,
         .labels = {},
         .only = {}}};
    ProfilePlan toy;
    toy.provenances = {Provenance::measured};
    toy.variants = {"fault_free", "shrunk", "shrunk_root_rate", "shrunk_linear_rate", "batch_kept"};
    toy.rounds = 3;
    toy.seconds_per_sample = 4;
    toy.bytes_per_sample = 30e3;
    ProfilePlan small = toy;
    small.profile = Profile::small;
    small.variants.clear();
    small.axes = {{"steps", {std::int64_t{1200}}}};
    small.rounds = 10;
    small.seconds_per_sample = 20;
    e.profiles = {toy, small};
    e.figure = {.kind = Figure::Kind::lines,
                .metric = "held_out_loss",
                .x = "samples",
                .panels = {"steps", "workers", "workers_left", "sequences", "learning_rate"},
                .x_title = "training sequences",
                .y_title = "held-out loss (nats per byte)",
                .log_y = false};
    e.validate = validate;
    e.unsupported = [](const SampleSpec&) { return tensors::lacks(tensors::Needs::text); };
    e.inputs = [](const SampleSpec&) { return tensors::inputs_of(tensors::Needs::text); };
    e.run = run;
    return e;
}

}  // namespace assay::lazarus
