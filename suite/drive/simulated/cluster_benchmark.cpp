// What an event of virtual time costs: a toy scheduler with typed messages and coroutines, and the
// queue of events alone beneath it.
//
//     build/cpu/bin/virtual_cluster_benchmark
#include <benchmark/benchmark.h>

#include "suite/drive/policy_run.hpp"
#include "suite/drive/simulated/event_queue.hpp"
#include "suite/drive/simulated/virtual_cluster.hpp"

namespace assay::drive {
namespace {

struct Task {
    int number = 0;
    bool operator==(const Task&) const = default;
};
struct Done {
    int number = 0;
    bool operator==(const Done&) const = default;
};
ASSAY_MESSAGE(Task, "task", number)
ASSAY_MESSAGE(Done, "done", number)

class Dealer {
  public:
    using Event = std::variant<Joined, From<Done>>;
    using Action = std::variant<To<Task>, Stop>;
    explicit Dealer(int tasks) : tasks_(tasks) {}
    void on(const Event& event, double, std::vector<Action>& actions) {
        const auto* done = std::get_if<From<Done>>(&event);
        done_ += done != nullptr;
        if (done_ == tasks_) return actions.push_back(Stop{true, ""});
        if (dealt_ == tasks_) return;
        actions.push_back(
            To<Task>{done ? done->worker : std::get<Joined>(event).worker, {dealt_++}});
    }

  private:
    int tasks_, dealt_ = 0, done_ = 0;
};

Protocol worker(Worker& me) {
    while (const auto message = co_await me.receive()) {
        const int number = message_to<Task>(*message).number;
        co_await me.work(1 + 0.01 * (number % 13));
        me.say(Done{number});
    }
}

/// A message, a piece of work and an answer each.
void toy(benchmark::State& state) {
    constexpr int tasks = 20'000;
    std::uint64_t events = 0;
    for (auto _ : state) {
        EventQueue time;
        ConstantLatencies latencies(0.001, 1);
        MemoryRecorder recorder;
        VirtualCluster driver({{.name = "", .protocol = worker}}, time, latencies, {}, recorder);
        PolicyRun<Dealer> run(Dealer(tasks), driver, [](const Decision<Dealer>&) {});
        for (int i = 0; i < state.range(0); ++i) driver.spawn({});
        if (!run.run().ok) state.SkipWithError("it did not end well");
        events += time.happened();
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(events));
}
BENCHMARK(toy)->Arg(4)->Arg(64)->Arg(1024);

void queue_alone(benchmark::State& state) {
    EventQueue time;
    std::function<void(int)> again = [&](int i) { time.after(1 + 0.01 * i, [&, i] { again(i); }); };
    for (int i = 0; i < state.range(0); ++i) again(i);
    for (auto _ : state) time.next();
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(queue_alone)->Arg(4)->Arg(64)->Arg(1024);

}  // namespace
}  // namespace assay::drive

BENCHMARK_MAIN();
