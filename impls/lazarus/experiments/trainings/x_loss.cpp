// What the loss does while the batch shrinks with the nodes: the paper shows no loss curve.
#include "impls/lazarus/experiments/experiments.hpp"

#include <fmt/format.h>

#include "impls/lazarus/experiments/trainings/x_loss.hpp"
#include "suite/base/error.hpp"
#include "suite/experiment/declaration.hpp"

namespace assay::lazarus {
namespace {

void check(const XLoss& loss) {
    if (loss.workers_left > loss.workers)
        throw UserError(fmt::format("axis workers_left needs a whole number from 2 to {}, not '{}'",
                                    loss.workers, loss.workers_left));
    if (loss.steps % 10 != 0)
        throw UserError("axis steps: the curves have ten points; give a multiple of 10");
    if (loss.learning_rate == 0)
        throw UserError("axis learning_rate: 0 is not above 0 and at most 1");
}

Experiment described() {
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
    e.metrics = declared<XLossFound>();
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
    return e;
}

}  // namespace

Experiment x_loss() {
    Declaration<XLoss> loss(described());
    loss.axis("workers", &XLoss::workers, "at the start", between(2, 64));
    loss.axis("workers_left", &XLoss::workers_left, "at the worst", between(2, 64));
    loss.axis("sequences", &XLoss::sequences, "per worker and pass, of 32 bytes", between(2, 64));
    loss.axis("steps", &XLoss::steps, "of the fault-free arm", between(10, 1'000'000));
    loss.axis("learning_rate", &XLoss::learning_rate,
              "of Adam, constant; chosen for the fault-free arm", between(0, 1));
    loss.variants(&XLoss::arm);
    loss.given(&XLoss::seed, &SampleSpec::seed);
    loss.given(&XLoss::shared, &SampleSpec::shared);
    loss.given_to_run(&XLoss::corpus, tensors::training_text);
    loss.check(check);
    return loss.runs(train_x_loss);
}

}  // namespace assay::lazarus
