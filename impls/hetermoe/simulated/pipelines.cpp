#include "impls/hetermoe/simulated/pipelines.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <vector>

namespace assay::hetermoe {
namespace {

struct Stage {
    const GpuSeconds* seconds;
    double memory = 0;  ///< bytes that can be filled
};

// Of `layers` layers at position `at` of `stages`, with so many micro-batches.
double stage_bytes(const Point& point, int layers, std::size_t at, std::size_t stages,
                   double micro_batches) {
    const ModelShape& model = point.model;
    const Workload one{.model = model, .tokens = point.tokens};
    const double ends = model.embedding_parameters() / 2;
    double parameters =
        layers * (model.experts * model.expert_parameters() + model.dense_layer_parameters());
    double task = expert_task_bytes(one, model.experts);
    if (at == 0) parameters += ends;
    if (at + 1 == stages) {
        parameters += ends;
        task = std::max(task, value_bytes * 3 * point.tokens * ModelShape::vocabulary);
    }
    const double alive = std::min(micro_batches, static_cast<double>(stages - at));
    const double inputs = alive * layers * point.tokens * model.hidden;
    return state_bytes * parameters + value_bytes * inputs + task;
}

// Calls visit(layers of each stage) for every way to deal them, at least one to each.
void for_each_deal(int layers, std::size_t stages, std::vector<int>& deal,
                   const std::function<void()>& visit) {
    if (deal.size() + 1 == stages) {
        deal.push_back(layers);
        visit();
        deal.pop_back();
        return;
    }
    const int left = static_cast<int>(stages - deal.size()) - 1;
    for (int here = 1; here <= layers - left; ++here) {
        deal.push_back(here);
        for_each_deal(layers - here, stages, deal, visit);
        deal.pop_back();
    }
}

}  // namespace

std::optional<double> pipelines_step_s(const Point& point) {
    const int pipelines = std::gcd(point.new_gpus.gpus, point.old_gpus.gpus);
    const PointTimes times = times_of(point, 1);
    const auto stage = [](const ModelledGpus& gpus, const GpuSeconds& seconds) {
        return Stage{&seconds, usable_memory * gpus.device.memory_bytes.value};
    };
    const std::vector<Stage> fresh(static_cast<std::size_t>(point.new_gpus.gpus / pipelines),
                                   stage(point.new_gpus, times.of_new)),
        old(static_cast<std::size_t>(point.old_gpus.gpus / pipelines),
            stage(point.old_gpus, times.of_old));
    const double micro_batches = point.sequences() / pipelines;
    std::optional<double> best;
    for (const bool new_first : {true, false}) {
        std::vector<Stage> stages = new_first ? fresh : old;
        const std::vector<Stage>& rest = new_first ? old : fresh;
        stages.insert(stages.end(), rest.begin(), rest.end());
        std::vector<int> deal;
        for_each_deal(point.model.layers, stages.size(), deal, [&] {
            double sum = 0, longest = 0;
            for (std::size_t at = 0; at < stages.size(); ++at) {
                if (stage_bytes(point, deal[at], at, stages.size(), micro_batches) >
                    stages[at].memory)
                    return;
                const GpuSeconds& seconds = *stages[at].seconds;
                const double forward = deal[at] * (seconds.attention + seconds.expert) +
                                       (at + 1 == stages.size() ? seconds.head : 0);
                sum += forward;
                longest = std::max(longest, forward);
            }
            const double step_s =
                (1 + backward_over_forward) * (sum + (micro_batches - 1) * longest);
            best = std::min(best.value_or(step_s), step_s);
        });
    }
    return best;
}

}  // namespace assay::hetermoe
