// The toy scheduler of reinforcement learning (suite/drive/example/rl_scheduler.hpp) under seeded
// schedules of faults: it ends, each rollout was made with the weights that it was asked for, and
// what it was told leads to the same decisions again.
#include "suite/drive/example/rl_scheduler.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "suite/drive/policy_run.hpp"
#include "suite/drive/processes/process_driver.hpp"
#include "suite/drive/simulated/event_queue.hpp"
#include "suite/drive/simulated/virtual_cluster.hpp"

namespace assay::drive::example {
namespace {

constexpr RlSettings settings{.rounds = 3, .prompts = 8, .engines = 3, .weight_bytes = 20'000};
constexpr double detect_s = 0.4, boot_s = 0.6;

/// Late messages race with deaths.
class DrawnLatencies final : public Latencies {
  public:
    explicit DrawnLatencies(std::uint64_t seed) : random_(seed) {}
    double message(WorkerId) override { return below(100) / 1000.0; }
    double detection(WorkerId) override { return 0.1 + below(1000) / 1000.0; }
    double boot(WorkerId) override { return 0.2 + below(1000) / 1000.0; }

  private:
    double below(std::uint64_t n) { return static_cast<double>(random_() % n); }
    std::mt19937_64 random_;
};

/// The trainer and worker 0 are one; it is spared what ends it.
std::string drawn_faults(std::uint64_t seed, int faults) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t n) { return random() % n; };
    std::string plan;
    for (int i = 0; i < faults; ++i) {
        const std::string engine = fmt::format("instance=engine-{}", below(3));
        const double t_s = 0.3 + static_cast<double>(below(20'000)) / 1009;
        const std::uint64_t kind = below(7);
        plan += kind < 2    ? fmt::format("kill:{}@t={}", engine, t_s)
                : kind == 2 ? fmt::format("hang:{}@t={}", engine, t_s)
                : kind == 3 ? fmt::format("hang:{}@t={},for=0.13", engine, t_s)
                : kind == 4 ? fmt::format("slow:{},factor=3@t={},for=2.3", engine, t_s)
                : kind == 5 ? fmt::format("link:rank=0,bandwidth=20000@t={},for=1.7", t_s)
                            : fmt::format("corrupt:rank=0,target=message@t={}", t_s);
        plan += "; ";
    }
    return plan + fmt::format("kill:role=engine,rank={}@step={}", below(3), below(4));
}

PolicyCourse<RlScheduler> run(Driver& driver) {
    PolicyRun<RlScheduler> run(RlScheduler(settings), driver);
    driver.spawn({"trainer", ""});
    for (int i = 0; i < settings.engines; ++i)
        driver.spawn({"engine", fmt::format("engine-{}", i)});
    return run.run();
}

PolicyCourse<RlScheduler> simulated(const std::string& faults, Latencies& latencies) {
    EventQueue time;
    MemoryRecorder recorder;
    VirtualCluster driver({trainer(settings), engine(settings)}, time, latencies,
                          {.faults = parse_fault_plan(faults)}, recorder);
    return run(driver);
}

PolicyCourse<RlScheduler> paced(const std::string& faults) {
    MemoryRecorder recorder;
    ProcessOptions options;
    options.faults = parse_fault_plan(faults);
    options.pace = Pace::steady;
    options.speed = 20;
    options.detect_s = detect_s;
    options.boot_s = boot_s;
    ProcessDriver driver({trainer(settings), engine(settings)}, options, recorder);
    return run(driver);
}

void check(const PolicyCourse<RlScheduler>& course) {
    EXPECT_TRUE(course.ok) << course.why;
    EXPECT_FALSE(first_difference(RlScheduler(settings), course.decisions));
    std::map<std::uint64_t, std::uint64_t> bytes;
    std::set<std::uint64_t> ended;
    long rollouts = 0;
    for (const auto& decision : course.decisions) {
        for (const auto& action : decision.actions)
            if (const auto* begun = std::get_if<Transfer>(&action)) bytes[begun->id] = begun->bytes;
        if (const auto* arrived = std::get_if<Arrived>(&decision.event))
            EXPECT_TRUE(ended.insert(arrived->id).second) << arrived->id;
        if (const auto* broken = std::get_if<Broken>(&decision.event)) {
            EXPECT_TRUE(ended.insert(broken->id).second) << broken->id;
            EXPECT_LE(broken->done, bytes.at(broken->id));
        }
        rollouts += std::holds_alternative<From<Rolled>>(decision.event);
    }
    EXPECT_GE(rollouts, settings.rounds * settings.prompts);
}

TEST(RlScheduler, EndsWithTheRightWeightsWhateverStrikes) {
    long struck = 0;
    for (std::uint64_t seed = 1; seed <= 500 && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE(fmt::format("seed {}: {}", seed, drawn_faults(seed, 5)));
        DrawnLatencies latencies(seed);
        const auto course = simulated(drawn_faults(seed, 5), latencies);
        check(course);
        struck += course.faults_struck;
    }
    EXPECT_GT(struck, 1500);
}

// What it begins again at once is not all that the driver does until the death is told of.
TEST(RlScheduler, EndsWithItsTrainer) {
    for (const char* faults : {"kill:rank=0@t=0.013", "kill:rank=0@t=2",
                               "kill:rank=0@t=2; kill:instance=engine-1@t=1.5"}) {
        SCOPED_TRACE(faults);
        ConstantLatencies latencies(0, detect_s, boot_s);
        const auto virtually = simulated(faults, latencies), emulated = paced(faults);
        EXPECT_EQ(virtually.why, "the trainer died");
        EXPECT_EQ(emulated.why, "the trainer died");
        EXPECT_EQ(emulated.decisions.size(), virtually.decisions.size());
    }
    MemoryRecorder recorder;
    ProcessOptions options;
    options.faults = parse_fault_plan("kill:rank=0@t=0.4");
    options.speed = 10;
    ProcessDriver driver({trainer({.rounds = 100'000}), engine({})}, options, recorder);
    PolicyRun<RlScheduler> run(RlScheduler({.rounds = 100'000}), driver);
    driver.spawn({"trainer", ""});
    driver.spawn({"engine", "engine-0"});
    EXPECT_EQ(run.run().why, "the trainer died");
}

TEST(RlScheduler, DecidesAcrossProcessesAsInVirtualTime) {
    for (const std::uint64_t seed : {1, 2, 3}) {
        const std::string faults = drawn_faults(seed, 3);
        SCOPED_TRACE(fmt::format("seed {}: {}", seed, faults));
        ConstantLatencies latencies(0, detect_s, boot_s);
        const auto virtually = simulated(faults, latencies), emulated = paced(faults);
        check(emulated);
        ASSERT_EQ(emulated.decisions.size(), virtually.decisions.size());
        for (std::size_t i = 0; i < emulated.decisions.size(); ++i) {
            const auto line = [](const Decision<RlScheduler>& one) {
                return to_message(one.event).dump() + " " + to_json(one.actions).dump();
            };
            ASSERT_EQ(line(emulated.decisions[i]), line(virtually.decisions[i]))
                << i << " at " << emulated.decisions[i].now_s << " and "
                << virtually.decisions[i].now_s;
        }
    }
}

}  // namespace
}  // namespace assay::drive::example
