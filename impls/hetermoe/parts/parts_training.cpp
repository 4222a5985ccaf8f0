#include "impls/hetermoe/parts/parts_training.hpp"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/AutogradState.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <chrono>
#include <mutex>
#include <numeric>
#include <stdexcept>

#include "impls/hetermoe/parts/part_links.hpp"
#include "impls/hetermoe/policy/controller/layout.hpp"
#include "impls/hetermoe/policy/expert_map.hpp"
#include "impls/nn/all_to_all.hpp"
#include "impls/nn/hashes.hpp"
#include "suite/cluster/rank_threads.hpp"
#include "suite/measure/statistics/quantile.hpp"

namespace assay::hetermoe {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

double median_or_zero(const std::vector<double>& values) {
    return values.empty() ? 0 : statistics::median(values);
}

std::unique_ptr<nn::ParameterBlock> draw_block(const nn::MoeGptConfig& model, nn::BlockKey key,
                                               at::Device device) {
    return std::make_unique<nn::ParameterBlock>(
        nn::block_name(key),
        key == nn::dense_key ? nn::dense_parameters(model) : nn::expert_parameters(model),
        model.dtype, 0, device, nn::Draw::on_device);
}

// The durations of a rank's tasks, by kind, and what they take of each step.
class TaskClock {
  public:
    explicit TaskClock(int layers) : layers_(layers) {}
    void begin() { began_ = Clock::now(); }
    void end(const Task& task) {
        const double took = seconds_since(began_);
        busy_s_ += took;
        if (task.kind == TaskKind::AF) (task.layer > layers_ ? head_ : attention_).push_back(took);
        if (task.kind == TaskKind::EF || task.kind == TaskKind::XF) experts_.push_back(took);
    }
    /// `counts`: whether it was one of those that are timed; else it is forgotten.
    void end_step(bool counts) {
        if (counts)
            steps_.push_back(busy_s_);
        else
            attention_.clear(), experts_.clear(), head_.clear();
        busy_s_ = 0;
    }
    RankTimes times() const {
        return {.busy_s = median_or_zero(steps_),
                .attention_s = median_or_zero(attention_),
                .experts_s = median_or_zero(experts_),
                .head_s = median_or_zero(head_)};
    }

  private:
    int layers_;
    Clock::time_point began_;
    double busy_s_ = 0;
    std::vector<double> steps_, attention_, experts_, head_;
};

}  // namespace

PartsTraining::PartsTraining(const nn::MoeGptConfig& model, at::Device device,
                             std::vector<Part> parts, std::uint64_t seed)
    : parts_(std::move(parts)), device_(device), seed_(seed) {
    at::manual_seed(seed);
    for (const Part& part : parts_) {
        states_.emplace_back(model, seed, nn::Placement{device, part.attention});
        states_.back().adopt(nn::dense_key, draw_block(model, nn::dense_key, device));
    }
    for (const auto& key : nn::all_blocks(model.layers, model.experts))
        if (key != nn::dense_key) states_.front().adopt(key, draw_block(model, key, device));
}

at::Tensor PartsTraining::tokens(std::int64_t step, std::int64_t first, std::int64_t count) const {
    const auto& model = states_.front().model();
    std::vector<at::Tensor> sequences;
    for (std::int64_t i = first; i < first + count; ++i) {
        const auto draw =
            nn::counter_hash(nn::counter_hash(seed_ + std::uint64_t(step)) + std::uint64_t(i));
        auto generator = at::make_generator<at::CPUGeneratorImpl>(draw);
        sequences.push_back(at::randint(nn::MoeGptConfig::vocabulary, {model.context + 1},
                                        generator, at::TensorOptions().dtype(at::kLong)));
    }
    return at::stack(sequences).to(device_);
}

const nn::ParameterBlock& PartsTraining::block(nn::BlockKey key) const {
    if (key == nn::dense_key) return *states_[newest_].find(key);
    for (const auto& state : states_)
        if (const auto* const block = state.find(key)) return *block;
    throw std::out_of_range("no such block: " + nn::block_name(key));
}

// Gives every rank's part its experts.
void PartsTraining::deal(const GroupPlan& plan, std::span<const std::size_t> members) {
    const auto& model = states_.front().model();
    for (int rank = 0; rank < plan.group.attention; ++rank)
        if (members[std::size_t(rank)] != newest_)
            states_[members[std::size_t(rank)]]
                .find(nn::dense_key)
                ->copy_state_from(*states_[newest_].find(nn::dense_key));
    for (int layer = 0; layer < model.layers; ++layer) {
        const auto home = homes(model.experts, plan.group, plan.offload[std::size_t(layer)]);
        for (int expert = 0; expert < model.experts; ++expert) {
            const nn::BlockKey key{layer, expert};
            auto& wanted = states_[members[std::size_t(home[std::size_t(expert)])]];
            for (auto& state : states_)
                if (&state != &wanted && state.find(key)) wanted.adopt(key, state.release(key));
        }
    }
    // Ranks' streams do not wait for this thread's.
    if (!device_.is_cpu())
        c10::impl::VirtualGuardImpl(device_.type()).synchronizeDevice(device_.index());
}

PartsRun PartsTraining::run(const GroupPlan& plan, std::span<const std::size_t> members,
                            int sequences, int steps) {
    const auto& model = states_.front().model();
    deal(plan, members);
    const int ranks = static_cast<int>(members.size()), attention = plan.group.attention;
    const auto everyone = make_part_links(ranks, device_), outs = make_part_links(ranks, device_),
               ins = make_part_links(ranks, device_), dense = make_part_links(attention, device_);
    const Layout layout{.group = plan.group,
                        .groups = 1,
                        .micro_batches = plan.micro_batches,
                        .offload = plan.offload,
                        .ranks = {}};
    const double scale = 1.0 / (double(sequences) * model.context);
    std::mutex mutex;
    PartsRun run{.losses = std::vector<double>(std::size_t(steps)),
                 .ranks = std::vector<RankTimes>(std::size_t(ranks))};
    std::vector<double> step_s;

    const auto step_of = [&](int rank, std::int64_t step, GroupLinks& links, TaskClock& clock,
                             const auto& finish) {
        auto& state = states_[members[std::size_t(rank)]];
        std::vector<at::Tensor> batches;
        if (rank < attention)
            for (const auto& batch : micro_batches_of(layout, sequences, rank))
                batches.push_back(tokens(step, batch.first, batch.sequences));
        finish();
        everyone[std::size_t(rank)]->barrier();
        const auto start = Clock::now();
        state.zero_gradients();
        const double loss = scale * run_group_step(plan, batches, scale, state, links,
                                                   {.before =
                                                        [&](const Task& task) {
                                                            if (computes(task)) clock.begin();
                                                        },
                                                    .after =
                                                        [&](const Task& task, std::int64_t) {
                                                            if (!computes(task)) return;
                                                            finish();
                                                            clock.end(task);
                                                        },
                                                    .settle = finish});
        if (rank < attention) {
            auto& gradients = state.find(nn::dense_key)->grad();
            dense[std::size_t(rank)]->all_reduce_sum(
                gradients.data_ptr(), std::size_t(gradients.numel()), nn::dtype_of(gradients));
        }
        for (const auto& key : state.keys())
            if (key != nn::dense_key || rank < attention)
                state.find(key)->values().add_(state.find(key)->grad(), -learning_rate);
        finish();
        everyone[std::size_t(rank)]->barrier();
        const double took = seconds_since(start);
        const bool first = step == step_;
        clock.end_step(!first);
        const std::lock_guard lock(mutex);
        run.losses[std::size_t(step - step_)] += loss;
        if (rank == 0 && !first) step_s.push_back(took);
    };
    const auto train = [&](int rank) {
        const Part& part = parts_[members[std::size_t(rank)]];
        if (!part.stream) at::set_num_threads(1);
        // Backward passes are launched by their rank; else one thread of libtorch's launches those
        // of all ranks, one after the other.
        c10::AutogradState::get_tls_state().set_multithreading_enabled(false);
        std::optional<c10::StreamGuard> on_stream;
        if (part.stream) on_stream.emplace(*part.stream);
        const auto finish = [&] {
            if (part.stream) part.stream->synchronize();
        };
        GroupLinks links(*outs[std::size_t(rank)], *ins[std::size_t(rank)]);
        TaskClock clock(model.layers);
        for (std::int64_t step = step_; step < step_ + steps; ++step)
            step_of(rank, step, links, clock, finish);
        run.ranks[std::size_t(rank)] = clock.times();
    };
    cluster::run_rank_threads(ranks, train, [&] {
        for (const auto* const group : {&everyone, &outs, &ins, &dense})
            for (const auto& links : *group) links->abort("a rank failed");
    });
    step_ += steps;
    newest_ = members.front();
    run.step_s = statistics::median(step_s);
    return run;
}

}  // namespace assay::hetermoe
