// Between spawn() and the worker's first moment: nobody waits, nothing is lost, everything comes in
// order. The launchers here start when they are told to.
#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "tests/cluster/processes/process_check.hpp"
#include "tests/cluster/processes/ways_to_start.hpp"

namespace assay::cluster {
namespace {

/// Passes requests on to a real launcher only when it is told to, as one for a distant host would.
class HeldLauncher final : public Launcher {
  public:
    struct Gate {
        bool open = false;
        int asked = 0;    ///< by the supervisor
        int started = 0;  ///< that it was told of
    };
    HeldLauncher(Way way, Gate& gate) : launcher_(make_launcher(way)), gate_(gate) {}

    void launch(WorkerId worker, const nlohmann::json& config) override {
        ++gate_.asked;
        held_.emplace_back(worker, config);
    }
    std::vector<Start> starts() override {
        for (; gate_.open && !held_.empty(); held_.pop_front())
            launcher_->launch(held_.front().first, held_.front().second);
        auto started = launcher_->starts();
        gate_.started += int(started.size());
        return started;
    }
    void signal(const Launched& worker, int number) override { launcher_->signal(worker, number); }
    std::string exit_status(WorkerId worker) override { return launcher_->exit_status(worker); }

  private:
    std::unique_ptr<Launcher> launcher_;
    Gate& gate_;
    std::deque<std::pair<WorkerId, nlohmann::json>> held_;
};

class StartingWorkers : public ::testing::TestWithParam<Way> {
  protected:
    Supervisor& start(SupervisorOptions options = {}) {
        supervisor_.emplace(std::make_unique<HeldLauncher>(GetParam(), gate_), options);
        return *supervisor_;
    }
    void pass(double seconds) {
        const double end_s = supervisor_->now_s() + seconds;
        while (supervisor_->now_s() < end_s) EXPECT_FALSE(supervisor_->next(Seconds(0.01)));
    }
    HeldLauncher::Gate gate_;
    std::optional<Supervisor> supervisor_;
};
INSTANTIATE_TEST_SUITE_P(By, StartingWorkers, ::testing::Values(Way::fork, Way::exec), name_of);

TEST_P(StartingWorkers, SpawnReturnsBeforeAnyHasStarted) {
    auto& supervisor = start();
    std::vector<WorkerId> ids;
    for (int i = 0; i < 40; ++i) ids.push_back(supervisor.spawn({{"do", "echo"}}));
    pass(0.05);
    EXPECT_EQ(gate_.asked, 40);
    EXPECT_EQ(gate_.started, 0);
    EXPECT_EQ(supervisor.alive(), ids);
    for (const WorkerId id : ids) EXPECT_EQ(supervisor.pid(id), -1);
    gate_.open = true;
    std::set<WorkerId> ready;
    while (ready.size() < ids.size()) {
        const auto message = next_of<WorkerMessage>(supervisor);
        ASSERT_TRUE(message);
        EXPECT_EQ(message->body.at("ready"), message->worker);
        EXPECT_TRUE(runs(supervisor.pid(message->worker)));
        ready.insert(message->worker);
    }
}

TEST_P(StartingWorkers, WhatTheyAreSentMeanwhileComesFirstAndInOrder) {
    auto& supervisor = start();
    const auto a = supervisor.spawn({{"do", "echo"}}), b = supervisor.spawn({{"do", "echo"}});
    auto send_some = [&, i = 0](int count) mutable {
        for (const int end = i + count; i < end; ++i) {
            const nlohmann::json body{{"i", i}, {"ballast", std::string(50'000, 'x')}};
            i % 2 == 0 ? supervisor.send(a, body) : supervisor.send({a, b}, body);
        }
    };
    send_some(20);
    pass(0.02);
    send_some(20);
    gate_.open = true;
    std::map<WorkerId, std::vector<int>> echoed;
    for (int ready = 0; echoed[a].size() < 60 || echoed[b].size() < 30;) {
        const auto message = next_of<WorkerMessage>(supervisor);
        ASSERT_TRUE(message);
        if (message->body.contains("echo"))
            echoed[message->worker].push_back(message->body.at("echo").at("i"));
        else if (++ready == 2)
            send_some(20);
    }
    for (int i = 0; i < 60; ++i) EXPECT_EQ(echoed[a][i], i);
    for (int i = 0; i < 30; ++i) EXPECT_EQ(echoed[b][i], 2 * i + 1);
}

TEST_P(StartingWorkers, AKillIsCarriedOutWhenThereIsSomebodyToKill) {
    auto& supervisor = start();
    const auto killed = supervisor.spawn({{"do", "echo"}}),
               other = supervisor.spawn({{"do", "echo"}});
    supervisor.kill(killed);
    supervisor.kill(killed);
    supervisor.stop(killed);  // who is killed is not asked any more
    EXPECT_TRUE(supervisor.alive(killed));
    EXPECT_EQ(supervisor.injected().kills, 0);
    pass(0.02);
    gate_.open = true;
    const auto died = next_of<WorkerDied>(supervisor);
    EXPECT_EQ(died->worker, killed);
    EXPECT_EQ(died->how, "signal 9");
    EXPECT_EQ(supervisor.injected().kills, 1);
    EXPECT_EQ(supervisor.injected().stops, 0);
    supervisor.send(other, {{"are you", "there"}});
    EXPECT_TRUE(next_of<WorkerMessage>(supervisor)) << "the other has nothing to do with it";
}

TEST_P(StartingWorkers, AStopAndAHangAreCarriedOutInTheirOrder) {
    auto& supervisor = start();
    const auto hanging = supervisor.spawn({{"do", "echo"}});
    supervisor.hang(hanging, Seconds(0.2));
    supervisor.hang(hanging, std::nullopt);  // already hangs
    supervisor.stop(hanging);
    pass(0.3);  // a hang lasts from when it begins
    EXPECT_EQ(supervisor.injected().hangs + supervisor.injected().stops, 0);
    gate_.open = true;
    // It may have come to say that it is ready before the hang met it.
    std::optional<WorkerMessage> message;
    double began_s = -1;
    do {
        if (auto event = supervisor.next(Seconds(0.01)))
            message = std::get<WorkerMessage>(std::move(*event));
        if (began_s < 0 && supervisor.injected().hangs == 1) {
            began_s = supervisor.now_s();
            EXPECT_TRUE(comes_true([&] { return process_state(supervisor.pid(hanging)) == 'T'; }));
        }
    } while (!message || !message->body.contains("stopping"));
    EXPECT_GT(supervisor.now_s() - began_s, 0.1);
    EXPECT_EQ(next_of<WorkerDied>(supervisor)->how, "exit 0");
    EXPECT_EQ(supervisor.injected().hangs, 1);
    EXPECT_EQ(supervisor.injected().resumes, 1);
    EXPECT_EQ(supervisor.injected().stops, 1);
}

// How a worker is slowed depends on its process, so this one call waits for it.
TEST_P(StartingWorkers, ToSlowOneWaitsUntilItIsThere) {
    auto& supervisor = start();
    const auto id = supervisor.spawn({{"do", "spin"}});
    gate_.open = true;
    EXPECT_EQ(supervisor.slow(id, 0.5, std::nullopt, SlowMeans::duty_cycle), SlowMeans::duty_cycle);
    EXPECT_GT(supervisor.pid(id), 0);
    EXPECT_EQ(supervisor.injected().slows, 1);
}

TEST_P(StartingWorkers, OneThatDoesNotStartInTimeIsGivenUpAndEndedIfItComesAfterAll) {
    auto& supervisor = start({.start_timeout = Seconds(0.15)});
    const auto id = supervisor.spawn({{"do", "never_start"}});
    supervisor.kill(id);
    supervisor.send(id, {{"to", "nobody"}});
    const auto died = next_of<WorkerDied>(supervisor);
    EXPECT_EQ(died->worker, id);
    EXPECT_EQ(died->how.rfind("not started within 0.1", 0), 0u) << died->how;
    EXPECT_FALSE(supervisor.alive(id));
    EXPECT_EQ(supervisor.injected().kills, 0) << "there was nobody to kill";
    EXPECT_EQ(supervisor.slow(id, 0.5, std::nullopt), std::nullopt);
    gate_.open = true;
    const auto children = [] {
        std::vector<long> all = children_of(::getpid()), found;
        for (const long child : all) {
            found.push_back(child);
            for (const long grandchild : children_of(child)) found.push_back(grandchild);
        }
        return found;
    };
    const auto before = children();
    while (gate_.started == 0) EXPECT_FALSE(supervisor.next(Seconds(0.01)));
    EXPECT_TRUE(comes_true([&] {
        for (const long child : children())
            if (std::find(before.begin(), before.end(), child) == before.end() && runs(child))
                return false;
        return true;
    })) << "it lives on";
    EXPECT_FALSE(supervisor.next(Seconds(0.05))) << "it died once";
}

TEST_P(StartingWorkers, TheSupervisorsEndWaitsForNoStart) {
    auto& supervisor = start();
    for (int i = 0; i < 5; ++i) supervisor.spawn({{"do", "echo"}});
    const auto before = std::chrono::steady_clock::now();
    supervisor_.reset();
    EXPECT_LT(Seconds(std::chrono::steady_clock::now() - before).count(), 5);
    EXPECT_TRUE(children_of(::getpid()).empty());
}

TEST_P(StartingWorkers, NorForOnesThatAreOnTheirWay) {
    supervisor_.emplace(make_launcher(GetParam()), SupervisorOptions{});
    for (int i = 0; i < 20; ++i) supervisor_->spawn({{"do", "echo"}});
    supervisor_.reset();
    EXPECT_TRUE(children_of(::getpid()).empty());
}

TEST_P(StartingWorkers, ALauncherThatCannotEvenBeAskedIsADeathToo) {
    class Broken final : public Launcher {
        void launch(WorkerId, const nlohmann::json&) override {
            throw std::runtime_error("the queue is closed for the weekend");
        }
        std::vector<Start> starts() override { return {}; }
        void signal(const Launched&, int) override {}
        std::string exit_status(WorkerId) override { return ""; }
    };
    auto& supervisor = start();
    gate_.open = true;
    const auto broken = supervisor.add_launcher(std::make_unique<Broken>());
    EXPECT_EQ(broken, 1u);
    const auto a = supervisor.spawn({{"do", "echo"}}), b = supervisor.spawn({}, broken),
               c = supervisor.spawn({{"do", "echo"}}, 0);
    const auto died = next_of<WorkerDied>(supervisor);
    EXPECT_EQ(died->worker, b);
    EXPECT_EQ(died->how, "the queue is closed for the weekend");
    EXPECT_EQ(supervisor.alive(), (std::vector<WorkerId>{a, c}));
    EXPECT_THROW(supervisor.spawn({}, 2), std::out_of_range);
    EXPECT_EQ(supervisor.spawn({{"do", "echo"}}), 3) << "no id was used up";
}

}  // namespace
}  // namespace assay::cluster
