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
#include "suite/cluster/processes/supervisor.hpp"
#include "suite/measure/hardware/worker_room.hpp"

namespace assay::hetermoe {
namespace {

using nlohmann::json;

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
    PacedSession(const PacedPlan& plan, int number, cluster::Supervisor& supervisor, int port)
        : plan_(plan), supervisor_(supervisor) {
        const json common{{"plan", drive::to_json(plan)},
                          {"number", number},
                          {"port", port},
                          {"timeout_ms", std::lround(1e3 * gives_up_after_s(plan))}};
        for (int rank = 0; rank < plan.steps.front().size(); ++rank) {
            json config = common;
            config["rank"] = rank;
            workers_.push_back(supervisor.spawn(config));
        }
    }

    PacedRun run() {
        PacedRun run;
        ask({{"type", "compute"}, {"step", 0}, {"held", false}});  // connections and memory
        for (std::size_t step = 0; step < plan_.steps.size(); ++step) {
            run.steps.push_back(best_attempt(step));
            if (plan_.steps[step].shape().backward)
                supervisor_.send(workers_, {{"type", "apply"}, {"step", step}});
        }
        const std::vector<json> digests = ask({{"type", "finish"}});
        for (std::size_t rank = 0; rank < digests.size(); ++rank)
            digests_[static_cast<Worker>(rank)] = drive::message_to<Digests>(digests[rank]).digests;
        supervisor_.send(workers_, {{"type", "dismiss"}});
        return run;
    }
    const StateDigests& digests() const { return digests_; }

  private:
    PacedStepRun best_attempt(std::size_t step) {
        PacedStepRun best;
        for (int attempt = 1; attempt <= plan_.attempts; ++attempt) {
            PacedStepRun run =
                read(step, ask({{"type", "compute"}, {"step", step}, {"held", true}}));
            run.move_s = std::max(run.move_s, best.move_s);  // it moves once
            const bool better = attempt == 1 || run.late < best.late;
            const double move_s = run.move_s;
            if (better) best = std::move(run);
            best.move_s = move_s;
            best.attempts = attempt;
            if (best.late <= plan_.most_late) break;
        }
        return best;
    }

    PacedStepRun read(std::size_t step, const std::vector<json>& said) const {
        PacedStepRun run;
        for (const json& of_rank : said) {
            for (TaskRun task : drive::from_json<std::vector<TaskRun>>(of_rank.at("runs"))) {
                for (double* time : {&task.arrived_s, &task.start_s, &task.end_s, &task.held_s})
                    *time /= plan_.scale;
                run.runs.push_back(task);
            }
            run.move_s = std::max(run.move_s, of_rank.at("move_s").get<double>() / plan_.scale);
            run.loss = of_rank.at("loss");
        }
        run.length_s = makespan_s(run.runs);
        run.late = late_s(plan_.steps[step].shape(), run.runs) / run.length_s;
        return run;
    }

    // What each rank answers.
    std::vector<json> ask(const json& question) {
        supervisor_.send(workers_, question);
        std::map<cluster::WorkerId, json> answers;
        double until_s = supervisor_.now_s() + gives_up_after_s(plan_);
        std::string broken;
        while (answers.size() < workers_.size()) {
            if (supervisor_.now_s() > until_s)
                throw SampleError(SampleStatus::failed,
                                  broken.empty() ? "the paced processes have fallen silent"
                                                 : "the paced processes' group broke: " + broken);
            const auto event = supervisor_.next(cluster::Seconds(0.1));
            if (!event) continue;
            if (const auto* message = std::get_if<cluster::WorkerMessage>(&*event)) {
                if (!message->body.contains("broken")) {
                    answers[message->worker] = message->body;
                } else if (broken.empty()) {  // who died is told in a moment
                    broken = message->body.at("broken");
                    until_s = std::min(until_s, supervisor_.now_s() + 2);
                }
            } else if (const auto* died = std::get_if<cluster::WorkerDied>(&*event)) {
                const auto rank =
                    std::find(workers_.begin(), workers_.end(), died->worker) - workers_.begin();
                if (rank < static_cast<long>(workers_.size()))  // of this plan
                    throw SampleError(
                        SampleStatus::failed,
                        fmt::format("the process of rank {} died: {}", rank, died->how));
            } else if (const auto* stop = std::get_if<cluster::Interrupted>(&*event)) {
                throw SampleError(SampleStatus::interrupted, stop->why);
            }
        }
        std::vector<json> in_order;
        for (const cluster::WorkerId worker : workers_) in_order.push_back(answers.at(worker));
        return in_order;
    }

    const PacedPlan& plan_;
    cluster::Supervisor& supervisor_;
    std::vector<cluster::WorkerId> workers_;
    StateDigests digests_;
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
    double longest_s = 0;
    for (const PacedPlan& plan : plans) {
        ranks = std::max(ranks, plan.steps.front().size());
        exchanges = std::max(exchanges, exchanges_of(plan));
        longest_s = std::max(longest_s, gives_up_after_s(plan));
    }
    measure::require_room_for_workers(ranks);
    Arrivals arrivals(ranks, exchanges);
    // Who dies is noticed at once; a process that a busy machine keeps waiting is not dead.
    cluster::Supervisor supervisor(
        cluster::make_fork_server(
            [&](cluster::WorkerId, cluster::ControlChannel& control, const json& config) {
                return paced_worker(control, config, arrivals);
            }),
        {.heartbeat_timeout = cluster::Seconds(longest_s)});
    const cluster::RendezvousServer rendezvous;
    std::vector<PacedRun> runs;
    std::vector<StateDigests> digests;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        PacedSession session(plans[i], static_cast<int>(i), supervisor, rendezvous.port());
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
