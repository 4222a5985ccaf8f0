// A trainer and two engines under all three drivers, one engine killed at its work and spawned
// anew (rl_scheduler.hpp).
//
//   build/cpu/bin/schedule_rl
//   build/cpu/bin/schedule_rl 'kill:instance=engine-1@t=3.3; link:rank=0,bandwidth=5e5@t=1,for=2'
#include "suite/drive/example/rl_scheduler.hpp"

#include <fmt/format.h>

#include <cmath>

#include "suite/drive/policy_run.hpp"
#include "suite/drive/processes/process_driver.hpp"
#include "suite/drive/simulated/event_queue.hpp"
#include "suite/drive/simulated/virtual_cluster.hpp"

namespace assay::drive::example {

using Course = PolicyCourse<RlScheduler>;

constexpr RlSettings settings;
constexpr double detect_s = 0.4, boot_s = 0.6;

Course run(Driver& driver) {
    PolicyRun<RlScheduler> run(RlScheduler(settings), driver);
    driver.spawn({"trainer", ""});
    for (int i = 0; i < settings.engines; ++i)
        driver.spawn({"engine", fmt::format("engine-{}", i)});
    return run.run();
}

Course across_processes(Pace pace, double speed, const FaultPlan& faults, Recorder& recorder) {
    ProcessOptions options;
    options.faults = faults;
    options.pace = pace;
    options.speed = speed;
    options.detect_s = detect_s;
    options.boot_s = boot_s;
    ProcessDriver driver({trainer(settings), engine(settings)}, options, recorder);
    return run(driver);
}

Course simulated(const FaultPlan& faults, Recorder& recorder) {
    EventQueue time;
    ConstantLatencies latencies(0, detect_s, boot_s);
    VirtualCluster driver({trainer(settings), engine(settings)}, time, latencies,
                          {.faults = faults}, recorder);
    return run(driver);
}

bool same(const Course& a, const Course& b) {
    return std::equal(a.decisions.begin(), a.decisions.end(), b.decisions.begin(),
                      b.decisions.end(), [](const auto& one, const auto& other) {
                          return one.event == other.event && one.actions == other.actions;
                      });
}

bool show(const char* driver, const char* provenance, const Course& course,
          const Course& simulated) {
    long rolled = 0, transfers = 0, spawned = 0;
    for (const auto& decision : course.decisions) {
        rolled += std::holds_alternative<From<Rolled>>(decision.event);
        transfers += std::holds_alternative<Arrived>(decision.event);
        for (const auto& action : decision.actions)
            spawned += std::holds_alternative<Spawn>(action);
    }
    const bool again = !first_difference(RlScheduler(settings), course.decisions);
    fmt::print("{:<10} {:<10} {:>8.3f} s {:>9} {:>9} {:>7} {:>7} {:>13} {:>12} {:>7.3f} s  {}\n",
               driver, provenance, course.ended_s, rolled, transfers, course.faults_struck, spawned,
               again ? "the same" : "otherwise", same(course, simulated) ? "the same" : "otherwise",
               course.worst_late_s, course.why);
    return course.ok && again;
}

int run_all(const FaultPlan& faults) {
    MemoryRecorder events;
    fmt::print("{:<10} {:<10} {:>10} {:>9} {:>9} {:>7} {:>7} {:>13} {:>12} {:>9}\n", "driver",
               "provenance", "ended", "rollouts", "transfers", "faults", "spawned", "decides again",
               "as simulated", "late by");
    const Course real = across_processes(Pace::real, 100, faults, events);
    const Course paced = across_processes(Pace::steady, 10, faults, events);
    const Course virtually = simulated(faults, events);
    bool ok = show("real", "measured", real, virtually);
    ok &= show("paced", "emulated", paced, virtually);
    ok &= show("simulated", "simulated", virtually, virtually);
    return ok && same(paced, virtually) ? 0 : 1;
}

}  // namespace assay::drive::example

int main(int argc, char** argv) {
    using namespace assay;
    try {
        return drive::example::run_all(
            parse_fault_plan(argc > 1 ? argv[1] : "kill:role=engine,rank=0@step=2"));
    } catch (const std::exception& error) {
        fmt::print(stderr, "schedule_rl: {}\n", error.what());
        return 1;
    }
}
