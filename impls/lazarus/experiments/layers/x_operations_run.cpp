#include "impls/lazarus/experiments/layers/x_operations.hpp"

#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <vector>

#include "impls/lazarus/cost/step_operations.hpp"
#include "impls/lazarus/spot/fig9_course.hpp"
#include "impls/lazarus/training/trainer.hpp"
#include "suite/cluster/collectives/in_process.hpp"
#include "suite/measure/environment.hpp"
#include "suite/scenario/operation_metrics.hpp"

namespace assay::lazarus {
namespace {

// The first layer's attention is timed with the embeddings and left out.
constexpr int layers = 3, expert_count = 4, context = 64;
constexpr int warm_up_steps = 2, timed_steps = 9;

double now_s() {
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

/// When each phase of a step was done.
class Stopwatch {
  public:
    StepHooks hooks() {
        return {.done =
                    [this](StepHooks::Phase phase, int) {
                        const double now = now_s();
                        seconds_[phase].push_back(now - before_);
                        before_ = now;
                    },
                .counted = {}};
    }
    void start() {
        seconds_.clear();
        before_ = now_s();
    }
    /// Of each layer in turn; of phases without layers one.
    const std::vector<double>& of(StepHooks::Phase phase) const { return seconds_.at(phase); }

  private:
    double before_ = 0;
    std::map<StepHooks::Phase, std::vector<double>> seconds_;
};

TrainingConfig training_of(const XOperations& operations) {
    TrainingConfig config;
    config.model = {.layers = layers,
                    .width = operations.width,
                    .heads = 4,
                    .experts = expert_count,
                    .hidden = 4 * operations.width,
                    .context = context};
    config.sequences = operations.sequences;
    config.seed = operations.seed;
    return config;
}

/// The same model as the cost model knows it, in 32-bit floats.
ModelledModel modelled(const TrainingConfig& config) {
    ModelledModel model;
    model.layers = layers;
    model.width = config.model.width;
    model.experts = expert_count;
    model.context = context;
    model.sequences = config.sequences;
    model.vocabulary = nn::MoeGptConfig::vocabulary;
    model.value_bytes = 4;
    return model;
}

/// Of all timed steps; of operations of a layer one value per layer.
struct Timings {
    std::vector<double> attention, experts, head, optimizer, backward_over_forward;

    void add(const Stopwatch& watch, double optimizer_s) {
        using Phase = StepHooks::Phase;
        const auto append = [](std::vector<double>& to, const std::vector<double>& from,
                               std::ptrdiff_t first) {
            to.insert(to.end(), from.begin() + first, from.end());
        };
        const auto sum = [](const std::vector<double>& seconds) {
            return std::accumulate(seconds.begin(), seconds.end(), 0.0);
        };
        append(attention, watch.of(Phase::attention), 1);
        append(experts, watch.of(Phase::computed), 0);
        append(head, watch.of(Phase::forward), 0);
        optimizer.push_back(optimizer_s);
        const double forward = sum(watch.of(Phase::attention)) + sum(watch.of(Phase::computed)) +
                               sum(watch.of(Phase::forward));
        backward_over_forward.push_back(watch.of(Phase::backward).front() / forward);
    }
};

void run(const XOperations& operations, Recorder& recorder) {
    at::set_num_threads(std::max(1, measure::count_usable_processors()));
    const TrainingConfig config = training_of(operations);
    const nn::ByteCorpus text(operations.corpus);
    Trainer trainer(config, text);
    const ModelPlacement alone(layers, Placement{{0, 1, 2, 3}});
    double parameters = 0;
    for (const BlockKey& key : blocks_of(alone, 0))
        parameters += double(trainer.make_initial(key).count());
    const auto group = cluster::make_in_process_group(1);

    Stopwatch watch;
    const StepHooks hooks = watch.hooks();
    Timings timings;
    for (int step = 0; step < warm_up_steps + timed_steps; ++step) {
        recorder.progress(double(step) / (warm_up_steps + timed_steps), "steps");
        watch.start();
        trainer.compute(step, alone, *group.front(), hooks);
        // What Trainer::apply() does without its digests, which are no part of the optimizer.
        const double computed = now_s();
        for (const BlockKey& key : trainer.keys())
            nn::adam_update(*trainer.find(key), step + 1, config.adam);
        if (step >= warm_up_steps) timings.add(watch, now_s() - computed);
    }

    const ModelledModel model = modelled(config);
    record_operation(recorder, attention_operation(model), median(timings.attention));
    record_operation(recorder, experts_operation(model, expert_count, model.tokens()),
                     median(timings.experts));
    record_operation(recorder, head_operation(model), median(timings.head));
    record_operation(recorder, optimizer_operation(parameters), median(timings.optimizer));
    recorder.metric("backward_over_forward", median(timings.backward_over_forward));
}

const tensors::Provided provided(time_operations, run);

}  // namespace
}  // namespace assay::lazarus
