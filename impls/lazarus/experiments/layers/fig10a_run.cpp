#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <thread>

#include "impls/lazarus/experiments/layers/layer_times.hpp"
#include "impls/lazarus/training/distributed_experts.hpp"
#include "suite/cluster/collectives/in_process.hpp"

namespace assay::lazarus {
namespace {

/// Processor time of this thread: what a rank would take on a processor of its own. Waiting for
/// others costs none.
double thread_s() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The layer with its weights and the rows of every rank.
class RunningLayer {
  public:
    explicit RunningLayer(const SkewedLayer& layer) : layer_(layer) {
        model_ = {.layers = 1,
                  .width = layer.width,
                  .experts = SkewedLayer::experts,
                  .hidden = 4 * layer.width};
        const auto specs = nn::expert_parameters(model_);
        for (int e = 0; e < SkewedLayer::experts; ++e)
            experts_.emplace_back("expert" + std::to_string(e), specs, at::kFloat, /*seed=*/1);
        for (const auto& choices : layer.choices)
            rows_.push_back(at::randn({static_cast<std::int64_t>(choices.size()), layer.width}));
    }

    PhaseTimes forward() const {
        const auto ranks = static_cast<std::size_t>(layer_.ranks());
        auto group = cluster::make_in_process_group(layer_.ranks());
        std::vector<PhaseTimes> times(ranks);
        std::vector<std::thread> threads;
        for (std::size_t rank = 0; rank < ranks; ++rank)
            threads.emplace_back([&, rank] { times[rank] = forward_of(rank, *group[rank]); });
        for (auto& thread : threads) thread.join();
        return slowest_of(times);
    }

  private:
    PhaseTimes forward_of(std::size_t rank, cluster::Communicator& comm) const {
        at::set_num_threads(1);
        const at::NoGradGuard no_grad;
        // Ranks of one process share an expert's weights; they only read them.
        HeldExperts held;
        for (const int expert : layer_.holders[rank])
            held[{0, expert}] = &experts_[static_cast<std::size_t>(expert)];
        PhaseTimes times;
        double before = 0;
        const StepHooks hooks{.done =
                                  [&](StepHooks::Phase phase, int) {
                                      const double now = thread_s();
                                      using enum StepHooks::Phase;
                                      if (phase == dispatched) times.dispatch = now - before;
                                      if (phase == computed) times.experts = now - before;
                                      if (phase == combined) times.combine = now - before;
                                      before = now;
                                  },
                              .counted = {}};
        DistributedExperts layer(comm, SkewedLayer::experts, layer_.rule, {layer_.holders}, held,
                                 hooks);
        layer.run(0, rows_[rank], layer_.choices[rank]);
        return times;
    }

    SkewedLayer layer_;
    nn::MoeGptConfig model_;
    std::vector<nn::ParameterBlock> experts_;
    std::vector<at::Tensor> rows_;
};

void run(const SkewedLayer& even, const SkewedLayer& skewed, Recorder& recorder) {
    const RunningLayer at_1_to_1(even), at_ratio(skewed);
    compare_layers([&] { return at_1_to_1.forward(); }, [&] { return at_ratio.forward(); },
                   skewed.rows(), recorder);
}

const tensors::Provided provided(compute_layers, run);

}  // namespace
}  // namespace assay::lazarus
