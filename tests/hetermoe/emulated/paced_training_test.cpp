// Real processes exchange rows over Gloo, forward and backward, held to modelled durations.
#include "impls/hetermoe/emulated/paced_worker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

namespace assay::hetermoe {
namespace {

PacedStep step_of(Group group, int micro_batches, std::vector<int> offload) {
    PacedStep step{.layout = {group, 1, micro_batches, std::move(offload), {}},
                   .experts = 8,
                   .exchange_s = 0.2};
    for (int rank = 0; rank < group.attention + group.expert; ++rank) {
        step.layout.ranks.push_back(rank);
        step.ranks.push_back(step.layout.is_attention(rank)
                                 ? GpuSeconds{.attention = 0.8, .expert = 0.8, .head = 0.1}
                                 : GpuSeconds{.expert = 1});
    }
    return step;
}

// One attempt: how punctual a busy machine is, is an experiment's to say.
PacedPlan plan_of(std::vector<PacedStep> steps, double real_s) {
    PacedPlan plan;
    plan.scale = scale_for(steps.front(), real_s);
    plan.steps = std::move(steps);
    plan.sequences = 8;
    plan.attempts = 1;
    return plan;
}

// Numbers are compared with one process' by run_paced_processes(), which throws.
TEST(HetermoePacedTraining, GivesOneProcessNumbersInThePlannedOrderAndTime) {
    // Experts move in between; then every GPU has its own (expert parallelism), by loads.
    PacedStep skewed = step_of({2, 1}, 1, {8, 8});
    skewed.loads.assign(2, {0.5, 0.2, 0.1, 0.1, 0.05, 0.05, 0, 0});
    PacedPlan by_load = plan_of({skewed}, 0.4);
    by_load.context = 32;
    PacedPlan forward = plan_of({step_of({1, 1}, 2, {0, 1})}, 0.3);
    forward.steps.front().backward = 0;
    const std::vector<PacedPlan> plans{
        plan_of({step_of({2, 2}, 2, {0, 1}), step_of({2, 2}, 2, {2, 0})}, 0.6), by_load, forward};
    const auto runs = run_paced_processes(plans);
    ASSERT_EQ(runs.size(), 3u);
    for (std::size_t i = 0; i < plans.size(); ++i) {
        EXPECT_LT(runs[i].difference, 1e-9);
        ASSERT_EQ(runs[i].steps.size(), plans[i].steps.size());
        for (std::size_t s = 0; s < plans[i].steps.size(); ++s) {
            const PacedStep& step = plans[i].steps[s];
            const PacedStepRun& run = runs[i].steps[s];
            const auto planned = planned_runs(step);
            EXPECT_EQ(run.runs.size(), planned.size());
            EXPECT_GT(run.loss, 0);
            // Whatever the machine: never shorter, and longer by no more than is said to be late.
            EXPECT_GE(run.length_s, 0.98 * makespan_s(planned));
            EXPECT_LE(run.length_s * (1 - run.late), 1.02 * makespan_s(planned));
            const QueueOrders orders = zebra_orders(step.shape());
            for (int rank = 0; rank < step.size(); ++rank)
                for (std::size_t queue = 0; queue < queues; ++queue) {
                    std::vector<Task> ran, expected;
                    for (const TaskRun& one : run.runs)
                        if (one.rank == rank &&
                            queue_of(one.task.kind) == static_cast<Queue>(queue))
                            ran.push_back(one.task);
                    for (const Task& task : orders[queue])
                        if (takes_part(step.layout, rank, task)) expected.push_back(task);
                    EXPECT_EQ(ran, expected);
                }
        }
    }
    EXPECT_EQ(runs[0].steps[0].move_s, 0);
    EXPECT_GT(runs[0].steps[1].move_s, 0);
}

// Children of a process, by /proc.
std::set<pid_t> children_of(pid_t parent) {
    std::set<pid_t> children;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        if (!std::isdigit(entry.path().filename().string().front())) continue;
        std::ifstream stat(entry.path() / "stat");
        std::string text;
        std::getline(stat, text);
        const std::size_t name_end = text.rfind(") ");
        if (name_end == std::string::npos) continue;
        if (std::stoi(text.substr(name_end + 4)) == parent)
            children.insert(std::stoi(entry.path().filename()));
    }
    return children;
}

// Another process kills a worker, a grandchild, once there are as many as ranks.
pid_t start_killer(std::size_t ranks) {
    const pid_t test = ::getpid(), killer = ::fork();
    if (killer != 0) return killer;
    for (int i = 0; i < 300; ++i) {
        for (const pid_t server : children_of(test)) {
            const auto workers = children_of(server);
            if (workers.size() != ranks) continue;
            std::this_thread::sleep_for(std::chrono::milliseconds(700));
            ::kill(*workers.rbegin(), SIGKILL);
            ::_exit(0);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    ::_exit(1);
}

TEST(HetermoePacedTraining, SaysWhichProcessDied) {
    const pid_t killer = start_killer(2);
    const std::vector<PacedPlan> plans{plan_of({step_of({1, 1}, 4, {0, 0, 0, 0})}, 6)};
    try {
        run_paced_processes(plans);
        ADD_FAILURE() << "nobody died";
    } catch (const SampleError& error) {
        EXPECT_EQ(error.status(), SampleStatus::failed);
        EXPECT_THAT(error.what(), testing::HasSubstr("died: signal 9"));
    }
    int status = 0;
    ::waitpid(killer, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(HetermoePacedTraining, LatenessMakesASampleInvalid) {
    PacedPlan plan;
    plan.most_late = 0.02;
    PacedRun run;
    run.steps.push_back({.late = 0.01});
    EXPECT_NO_THROW(require_punctual(plan, run));
    run.steps.push_back({.late = 0.03});
    try {
        require_punctual(plan, run);
        ADD_FAILURE() << "it was late";
    } catch (const SampleError& error) {
        EXPECT_EQ(error.status(), SampleStatus::invalid);
    }
}

}  // namespace
}  // namespace assay::hetermoe
