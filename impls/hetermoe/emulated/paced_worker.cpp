#include "impls/hetermoe/emulated/paced_worker.hpp"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <array>
#include <memory>
#include <optional>

#include "impls/hetermoe/live/messages.hpp"
#include "impls/nn/moe/transfer.hpp"
#include "suite/cluster/gloo/gloo.hpp"
#include "suite/cluster/pacer.hpp"

namespace assay::hetermoe {
namespace {

constexpr double lead_s = 0.02;  // from the agreement on a start to it

/// Holds one rank's tasks of a step to what the modelled GPU takes. Each queue's tasks come from
/// one thread.
class Pacing {
  public:
    Pacing(const PacedStep& step, int rank, double scale, double rows, double start_s,
           Arrivals& arrivals)
        : step_(step),
          rank_(rank),
          scale_(scale),
          rows_(rows),
          start_s_(start_s),
          arrivals_(arrivals) {}

    void before(const Task& task) {
        const Queue queue = queue_of(task.kind);
        Lane& lane = lanes_[static_cast<std::size_t>(queue)];
        if (lane.runs.empty() && !is_transfer(queue)) cluster::sleep_until(start_s_);
        lane.arrived_s = cluster::monotonic_s();
        if (is_transfer(queue)) arrivals_.arrive(rank_, queue, lane.runs.size(), lane.arrived_s);
    }

    void after(const Task& task, std::int64_t rows) {
        const Queue queue = queue_of(task.kind);
        Lane& lane = lanes_[static_cast<std::size_t>(queue)];
        const double start_s = is_transfer(queue) ? arrivals_.latest(queue, lane.runs.size())
                                                  : lane.arrived_s,
                     share = step_.loads.empty() ? expected_rows(step_, rank_, task)
                                                 : static_cast<double>(rows) / rows_,
                     held_s = scale_ * task_s(step_, rank_, task, share);
        lane.pacer.start(start_s);
        lane.pacer.hold_until(held_s);
        lane.runs.push_back({.rank = rank_,
                             .task = task,
                             .arrived_s = lane.arrived_s - start_s_,
                             .start_s = start_s - start_s_,
                             .end_s = cluster::monotonic_s() - start_s_,
                             .held_s = held_s});
    }

    std::vector<TaskRun> runs() const {
        std::vector<TaskRun> all;
        for (const Lane& lane : lanes_) all.insert(all.end(), lane.runs.begin(), lane.runs.end());
        return all;
    }

  private:
    struct Lane {
        cluster::Pacer pacer{1};
        double arrived_s = 0;
        std::vector<TaskRun> runs;
    };
    const PacedStep& step_;
    int rank_;
    double scale_;  // 0: not held
    double rows_;   // of a micro-batch of one attention rank
    double start_s_;
    Arrivals& arrivals_;
    std::array<Lane, queues> lanes_;
};

class PacedWorker {
  public:
    PacedWorker(const PacedRank& place, Arrivals& arrivals)
        : plan_(place.plan),
          rank_(place.rank),
          trainer_(settings_of(plan_), paced_text()),
          arrivals_(arrivals),
          gloo_({.port = place.port, .timeout = std::chrono::milliseconds(place.timeout_ms)}) {
        const auto group = [&](const char* name) {
            return gloo_.make_group(fmt::format("{}/{}", place.number, name), rank_,
                                    plan_.steps.front().size());
        };
        all_ = group("all");
        out_ = group("out");
        in_ = group("in");
        links_.emplace(*out_, *in_);
        layout_ = plan_.steps.front().layout;
        for (const BlockKey& key : mine()) trainer_.make_initial(key);
    }

    Computed compute(const Go& go) {
        const PacedStep& step = plan_.steps.at(static_cast<std::size_t>(go.step));
        const double scale = go.epoch > 0 ? plan_.scale : 0, move_s = move_to(step, scale);
        double start_s = cluster::monotonic_s() + lead_s;
        all_->broadcast(&start_s, 1, cluster::Dtype::f64, 0);
        const double rows = trainer_.model().top_k *
                            static_cast<double>(plan_.sequences * plan_.context) /
                            (layout_.attention_ranks() * layout_.micro_batches);
        Pacing pacing(step, rank_, scale, rows, start_s, arrivals_);
        const StepResult result = trainer_.compute(
            go.step, layout_, {*all_, *links_},
            {.before = [&](const Task& task) { pacing.before(task); },
             .after = [&](const Task& task, std::int64_t rows) { pacing.after(task, rows); },
             .backward = step.shape().backward});
        if (!result.not_finite.empty()) throw std::runtime_error(result.not_finite);
        return {pacing.runs(), move_s, result.loss};
    }

    void apply(const Commit& commit) { trainer_.apply(commit.step); }
    Digests digests() const { return {trainer_.digests()}; }
    // Nobody may wait for this one.
    void abort(const std::string& why) {
        all_->abort(why);
        links_->abort(why);
    }

  private:
    std::vector<BlockKey> mine() const {
        return blocks_of(layout_, trainer_.model().experts, rank_);
    }

    // Every block that a rank gets comes from its first holder. Returns the real seconds.
    double move_to(const PacedStep& step, double scale) {
        if (step.layout == layout_) return 0;
        const double start_s = cluster::monotonic_s();
        const int experts = trainer_.model().experts;
        std::vector<nn::BlockMove> moves;
        for (const BlockKey& key : nn::all_blocks(layout_.layers(), experts)) {
            const auto from = holders_of(layout_, experts, key);
            for (const int to : holders_of(step.layout, experts, key))
                if (std::find(from.begin(), from.end(), to) == from.end())
                    moves.push_back({from.front(), to, key});
        }
        nn::transfer_blocks(moves, *all_, trainer_);
        layout_ = step.layout;
        trainer_.drop_all_but(mine());
        cluster::sleep_until(start_s + scale * step.move_s);
        return cluster::monotonic_s() - start_s;
    }

    PacedPlan plan_;
    int rank_;
    Trainer trainer_;
    Arrivals& arrivals_;
    cluster::GlooContext gloo_;
    std::unique_ptr<cluster::Communicator> all_, out_, in_;
    std::optional<GroupLinks> links_;
    Layout layout_;  // of the step before
};

}  // namespace

// In double precision: what differs from one process is then no rounding.
TrainingSettings settings_of(const PacedPlan& plan) {
    const PacedStep& first = plan.steps.front();
    TrainingSettings settings;
    settings.model = {.layers = first.layout.layers(),
                      .width = 16,
                      .heads = 2,
                      .experts = first.experts,
                      .top_k = 2,
                      .hidden = 24,
                      .context = static_cast<int>(plan.context),
                      .dtype = at::kDouble};
    settings.sequences = plan.sequences;
    settings.seed = plan.seed;
    settings.loads = first.loads;
    return settings;
}

const nn::ByteCorpus& paced_text() {
    static const auto corpus = nn::ByteCorpus::from_text([] {
        std::string lines;
        for (int i = 0; i < 500; ++i) lines += std::to_string(i * 7919 % 1000) + " rows\n";
        return lines;
    }());
    return corpus;
}

drive::Protocol paced_worker(drive::Worker& me, Arrivals& arrivals) {
    at::set_num_threads(1);  // one code path, one order of additions
    PacedWorker worker(me.configuration<PacedRank>(), arrivals);
    while (const auto message = co_await me.receive()) {
        try {
            if (message->is<Commit>())
                worker.apply(message->to<Commit>());
            else
                me.say(worker.compute(message->to<Go>()));
        } catch (const cluster::CommunicatorBroken& broken) {
            worker.abort(broken.what());
            me.say(GroupBroken{.why = broken.what()});
        }
    }
    me.say(worker.digests());
}

}  // namespace assay::hetermoe
