// Node-steps per second of a simulated training, and how they grow with the cluster: the driver
// alone (every step takes a second), and with the cost model.
#include <benchmark/benchmark.h>

#include <stdexcept>

#include "impls/lazarus/simulated/cluster.hpp"
#include "impls/lazarus/simulated/training.hpp"
#include "suite/drive/simulated/event_queue.hpp"

namespace assay::lazarus {
namespace {

constexpr int layers = 2, experts = 8, slots = 2;

ControllerConfig job(int nodes, Step steps) {
    ControllerConfig job;
    job.layers = layers;
    job.experts = experts;
    job.slots = slots;
    job.steps = steps;
    job.rebalance_every = 0;
    job.initial_workers = nodes;
    return job;
}

class OneSecondSteps final : public Durations {
  public:
    double starting(Worker) override { return 0; }
    double message(Worker) override { return 0; }
    double detection(Worker, bool) override { return 1; }
    double eviction(Worker) override { return 0; }
    double silence() override { return 10; }
    double patience() override { return 10; }
    double endurance() override { return drive::SimulatedWorld::forever; }
    double building(const Reconfigure&, Worker) override { return 1; }
    double moving(const Reconfigure&, Worker, Worker) override { return 1; }
    double restoring(const Reconfigure&, Worker) override { return 1; }
    double computing(const Reconfigure&, Step, Worker) override { return 1; }
    double summing(const Reconfigure&, Step, Worker) override { return 0; }
    double written(Worker, int, int) override { return 1; }
    std::vector<Loads> loads(const Reconfigure&, Step) override {
        return std::vector<Loads>(layers, Loads(experts, 100));
    }
};

void report(benchmark::State& state, Step steps) {
    state.counters["node_steps"] =
        benchmark::Counter(static_cast<double>(state.iterations() * state.range(0) * steps),
                           benchmark::Counter::kIsRate);
    state.SetComplexityN(state.range(0));
}

/// Steps alone: the first plan is made and put into force outside of the timing.
void steps_of_a_cluster(benchmark::State& state) {
    const int nodes = static_cast<int>(state.range(0));
    const Step steps = 1'000'000, per_iteration = 5;
    drive::EventQueue time;
    OneSecondSteps durations;
    SimulatedCluster cluster(job(nodes, steps), time, durations);
    for (int i = 0; i < nodes; ++i) cluster.spawn();
    Step reached = 1;
    const auto go_on = [&] {
        while (cluster.controller().committed() < reached)
            if (!time.next()) throw std::logic_error("the training ended");
    };
    go_on();
    for (auto _ : state) {
        reached += per_iteration;
        go_on();
    }
    report(state, per_iteration);
}

/// Whole trainings: planning, routing, the price of every step.
void trainings(benchmark::State& state) {
    const int nodes = static_cast<int>(state.range(0));
    const Step steps = 10;
    ModelledTraining training;
    training.controller = job(nodes, steps);
    training.modelling.model = modelled_model("gpt-s");
    training.modelling.cluster = "lazarus-testbed";
    training.modelling.real_layers = layers;
    training.modelling.real_tokens = 128;
    training.routing = {.layers = layers, .experts = experts};
    for (auto _ : state) {
        MemoryRecorder recorder;
        if (!simulate_training(training, recorder).ok) throw std::logic_error("it failed");
    }
    report(state, steps);
}

BENCHMARK(steps_of_a_cluster)->Arg(10)->Arg(100)->Arg(1024)->Arg(4096)->Complexity();
BENCHMARK(trainings)
    ->Arg(10)
    ->Arg(100)
    ->Arg(1024)
    ->Arg(4096)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

}  // namespace
}  // namespace assay::lazarus

BENCHMARK_MAIN();
