#include "impls/hetermoe/emulated/paced_pair.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "impls/hetermoe/emulated/split_forward.hpp"
#include "impls/hetermoe/policy/timeline.hpp"
#include "impls/hetermoe/profile/profile_file.hpp"
#include "suite/cluster/gloo/gloo.hpp"
#include "suite/cluster/pacer.hpp"
#include "suite/cluster/processes/supervisor.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::hetermoe {
namespace {

using nlohmann::json;

constexpr double gives_up_after_s = 60;
constexpr double lead_s = 0.02;  // from the agreement on a start to it

double difference_from_whole(const SmallMoe& model, const SplitForward& split, int micro_batches) {
    double largest = 0;
    for (int j = 1; j <= micro_batches; ++j) {
        const Rows whole = whole_forward(model, j);
        for (std::size_t i = 0; i < whole.size(); ++i)
            largest = std::max<double>(largest, std::abs(whole[i] - split.result(j)[i]));
    }
    return largest;
}

json to_json(const StepRun& run) {
    json tasks = json::array();
    for (const auto& [task, start_s, end_s] : run.tasks)
        tasks.push_back(
            {static_cast<int>(task.kind), task.layer, task.micro_batch, start_s, end_s});
    return tasks;
}

// Worker 0 is the attention side. A pass that is not held comes first: connections and memory.
int pair_worker(cluster::WorkerId self, cluster::ControlChannel& control, const json& config) {
    const TrainingProfile profile =
        read_profile(config.at("profile").get<std::string>(), "the pair's profile");
    const auto offload = config.at("offload").get<std::vector<int>>();
    const StepShape step{
        .micro_batches = config.at("micro_batches"), .offload = offload, .backward = false};
    const TaskTimes times = task_times(profile, {1, 1}, Fraction(1), step.micro_batches);
    const Side side = self == 0 ? Side::attention : Side::expert;
    const SmallMoe model{.layers = profile.layers, .experts = profile.experts};

    cluster::GlooContext gloo({.port = config.at("port")});
    control.start(cluster::Seconds(0.02));
    const auto out = gloo.make_group("dispatch", self, 2), in = gloo.make_group("combine", self, 2);
    const auto pass = [&](SplitForward& forward, bool held) {
        double start_s = cluster::monotonic_s() + lead_s;
        out->broadcast(&start_s, 1, cluster::Dtype::f64, 0);
        return execute(
            {.side = side,
             .step = step,
             .start_s = start_s,
             .work = [&](const Task& task) { forward.run(task); },
             .modelled_s =
                 [&](const Task& task) { return held ? times.seconds(times.of(step, task)) : 0.0; },
             .abort =
                 [&] {
                     out->abort("a task of the step failed");
                     in->abort("a task of the step failed");
                 }});
    };
    SplitForward first(model, step, side, *out, *in), forward(model, step, side, *out, *in);
    pass(first, false);
    const StepRun run = pass(forward, true);
    json said{{"tasks", to_json(run)}, {"late_s", run.late_s}};
    if (side == Side::attention)
        said["difference"] = difference_from_whole(model, forward, step.micro_batches);
    control.send(said);
    control.receive();  // until the other has said its part too
    return 0;
}

void take(const json& said, PacedPass& pass) {
    for (const json& task : said.at("tasks"))
        pass.tasks.push_back(
            {{static_cast<TaskKind>(task[0].get<int>()), task[1], task[2]}, task[3], task[4]});
    pass.late_s = std::max(pass.late_s, said.at("late_s").get<double>());
    pass.difference = said.value("difference", pass.difference);
}

}  // namespace

PacedPass run_paced_pair(const PacedPair& pair) {
    // Who dies is noticed at once; a process that a busy machine keeps waiting is not dead.
    cluster::Supervisor supervisor(cluster::make_fork_server(pair_worker),
                                   {.heartbeat_timeout = cluster::Seconds(gives_up_after_s)});
    cluster::RendezvousServer rendezvous;
    for (int worker = 0; worker < 2; ++worker)
        supervisor.spawn({{"port", rendezvous.port()},
                          {"profile", to_toml(pair.profile)},
                          {"offload", pair.offload},
                          {"micro_batches", pair.micro_batches}});
    PacedPass pass;
    for (int heard = 0; heard < 2;) {
        if (supervisor.now_s() > gives_up_after_s)
            throw SampleError(SampleStatus::failed, "the two processes have fallen silent");
        const auto event = supervisor.next(cluster::Seconds(0.1));
        if (!event) continue;
        if (const auto* message = std::get_if<cluster::WorkerMessage>(&*event)) {
            take(message->body, pass);
            ++heard;
        } else if (const auto* died = std::get_if<cluster::WorkerDied>(&*event)) {
            throw SampleError(SampleStatus::failed,
                              fmt::format("process {} died: {}", died->worker, died->how));
        } else if (const auto* stop = std::get_if<cluster::Interrupted>(&*event)) {
            throw SampleError(SampleStatus::interrupted, stop->why);
        }
    }
    std::stable_sort(pass.tasks.begin(), pass.tasks.end(),
                     [](const TaskRun& a, const TaskRun& b) { return a.start_s < b.start_s; });
    return pass;
}

}  // namespace assay::hetermoe
