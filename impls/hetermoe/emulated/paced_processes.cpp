// The processes of paced trainings, and what one process makes of the same.
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "impls/hetermoe/emulated/paced_worker.hpp"
#include "impls/hetermoe/live/messages.hpp"
#include "impls/hetermoe/training/replay.hpp"
#include "suite/cluster/gloo/gloo.hpp"
#include "suite/cluster/pacer.hpp"
#include "suite/drive/processes/process_driver.hpp"

namespace assay::hetermoe {
namespace {

using Answers = std::map<Worker, drive::AnyMessage>;  // by worker, so by rank

constexpr double largest_rounding = 1e-9;  // relative, of numbers in double precision

double real_s(const PacedPlan& plan) {
    double longest = 0;
    for (const PacedStep& step : plan.steps)
        longest = std::max(longest, plan.scale * (makespan_s(planned_runs(step)) + step.move_s));
    return longest;
}

// A step that has not ended by then never will: a busy machine may take several times as long.
double gives_up_after_s(const PacedPlan& plan) { return 20 + 10 * real_s(plan); }

std::size_t exchanges_of(const PacedPlan& plan) {
    std::size_t most = 0;
    for (const PacedStep& step : plan.steps)
        most = std::max(
            most, zebra_orders(step.shape())[static_cast<std::size_t>(Queue::link_out)].size());
    return most;
}

class PacedSession {
  public:
    PacedSession(const PacedPlan& plan, int number, drive::ProcessDriver& driver,
                 std::uint16_t port)
        : plan_(plan), driver_(driver) {
        driver_.listen([this](const drive::DriverEvent& event) { hear(event); });
        for (int rank = 0; rank < plan.steps.front().size(); ++rank)
            workers_.push_back(driver.spawn(
                {}, drive::to_json(PacedRank{plan, number, rank, port,
                                             std::lround(1e3 * gives_up_after_s(plan))})));
    }

    PacedRun run() {
        PacedRun run;
        ask(Go{});  // connections and memory
        for (const PacedStep& step : plan_.steps) {
            const Go go{.step = static_cast<Step>(run.steps.size())};
            run.steps.push_back(best_attempt(go, step.shape()));
            if (step.shape().backward) tell(Commit{.step = go.step});
        }
        return run;
    }
    // Of all ranks, which end.
    StateDigests digests() {
        StateDigests digests;
        for (const Worker worker : workers_) driver_.dismiss(worker);
        for (const auto& [worker, said] : answers())
            digests[worker - workers_.front()] = said.to<Digests>().digests;
        return digests;
    }

  private:
    PacedStepRun best_attempt(Go go, const StepShape& shape) {
        PacedStepRun best;
        while (++go.epoch <= plan_.attempts) {
            PacedStepRun run = read(shape, ask(go));
            run.move_s = std::max(run.move_s, best.move_s);  // it moves once
            const bool better = go.epoch == 1 || run.late < best.late;
            const double move_s = run.move_s;
            if (better) best = std::move(run);
            best.move_s = move_s;
            best.attempts = static_cast<int>(go.epoch);
            if (best.late <= plan_.most_late) break;
        }
        return best;
    }

    PacedStepRun read(const StepShape& shape, const Answers& said) const {
        PacedStepRun run;
        for (const auto& [worker, answer] : said) {
            const auto computed = answer.to<Computed>();
            for (TaskRun task : computed.runs) {
                for (double* time : {&task.arrived_s, &task.start_s, &task.end_s, &task.held_s})
                    *time /= plan_.scale;
                run.runs.push_back(task);
            }
            run.move_s = std::max(run.move_s, computed.move_s / plan_.scale);
            run.loss = computed.loss;
        }
        run.length_s = makespan_s(run.runs);
        run.late = late_s(shape, run.runs) / run.length_s;
        return run;
    }

    void tell(const drive::AnyMessage& message) {
        for (const Worker worker : workers_) driver_.send(worker, message);
    }
    Answers ask(const drive::AnyMessage& question) {
        tell(question);
        return answers();
    }
    // One of each rank.
    Answers answers() {
        until_s_ = cluster::monotonic_s() + gives_up_after_s(plan_);
        while (answers_.size() < workers_.size())
            if (!driver_.turn(until_s_ - cluster::monotonic_s()))
                throw SampleError(SampleStatus::failed,
                                  broken_.empty() ? "the paced processes have fallen silent"
                                                  : "the paced processes' group broke: " + broken_);
        return std::exchange(answers_, {});
    }
    void hear(const drive::DriverEvent& event) {
        if (const auto* died = std::get_if<drive::Died>(&event))
            throw SampleError(SampleStatus::failed, fmt::format("the process of rank {} died: {}",
                                                                died->worker - workers_.front(),
                                                                driver_.how_ended(died->worker)));
        const auto* said = std::get_if<drive::Said>(&event);
        if (!said) return;
        if (!said->message.is<GroupBroken>()) {
            answers_[said->worker] = said->message;
        } else if (broken_.empty()) {  // who died is told in a moment
            broken_ = said->message.to<GroupBroken>().why;
            until_s_ = std::min(until_s_, cluster::monotonic_s() + 2);
        }
    }

    const PacedPlan& plan_;
    drive::ProcessDriver& driver_;
    std::vector<Worker> workers_;  // by rank
    Answers answers_;
    double until_s_ = 0;
    std::string broken_;
};

// Throws where the processes' numbers are not those of one.
double difference_from_one(const PacedPlan& plan, const PacedRun& run,
                           const StateDigests& digests) {
    const TrainingSettings settings = settings_of(plan);
    OneProcess one(settings, paced_text());
    PlannedTraining replay(settings, paced_text());
    double difference = 0;
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
        const PacedStep& step = plan.steps[i];
        const auto number = static_cast<std::int64_t>(i);
        const double loss = one.train(number, step.layout);
        difference = std::max(difference, std::abs(run.steps[i].loss / loss - 1));
        if (step.shape().backward) replay.train({number, 0, step.layout});
    }
    if (plan.steps.back().shape().backward) {
        if (!agrees(digests, replay.digests()))
            throw SampleError(SampleStatus::failed,
                              "weights and moments differ from those of the same ranks as threads");
        difference = largest_difference(replay, one.state());
    }
    if (!(difference <= largest_rounding))
        throw SampleError(
            SampleStatus::failed,
            fmt::format("what the processes computed differs by {} from one's", difference));
    return difference;
}

}  // namespace

std::vector<PacedRun> run_paced_processes(std::span<const PacedPlan> plans) {
    int ranks = 0;
    std::size_t exchanges = 0;
    drive::ProcessOptions options;
    for (const PacedPlan& plan : plans) {
        ranks = std::max(ranks, plan.steps.front().size());
        exchanges = std::max(exchanges, exchanges_of(plan));
        // Who dies is noticed at once; a process that a busy machine keeps waiting is not dead.
        auto& silence = options.supervisor.heartbeat_timeout;
        silence = std::max(silence, cluster::Seconds(gives_up_after_s(plan)));
    }
    Arrivals arrivals(ranks, exchanges);
    MemoryRecorder unrecorded;
    drive::ProcessDriver driver(
        {{.protocol = [&](drive::Worker& me) { return paced_worker(me, arrivals); }}}, options,
        unrecorded);
    const cluster::RendezvousServer rendezvous;
    std::vector<PacedRun> runs;
    std::vector<StateDigests> digests;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        PacedSession session(plans[i], static_cast<int>(i), driver, rendezvous.port());
        runs.push_back(session.run());
        digests.push_back(session.digests());
    }
    at::set_num_threads(1);  // as the workers have it
    for (std::size_t i = 0; i < plans.size(); ++i)
        runs[i].difference = difference_from_one(plans[i], runs[i], digests[i]);
    return runs;
}

namespace {
const tensors::Provided provided(run_paced, run_paced_processes);
}

}  // namespace assay::hetermoe
