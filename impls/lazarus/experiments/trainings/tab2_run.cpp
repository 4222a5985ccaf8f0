#include "impls/lazarus/experiments/trainings/tab2.hpp"

#include <numeric>

#include "impls/lazarus/data/seeded_shuffle.hpp"
#include "impls/lazarus/live/worker.hpp"
#include "impls/lazarus/policy/controller/controller.hpp"
#include "impls/lazarus/policy/plan/transfer_plan.hpp"
#include "impls/lazarus/spot/spot_session.hpp"

namespace assay::lazarus {
namespace {

constexpr int workers = 10;
constexpr Step kill_at = 2;

// What each worker holds when step `kill_at` begins: the controller's own doing, given the loads
// that the trace will bring.
ModelPlacement holdings_at_the_kill(const SessionOptions& options) {
    const RoutingReplay replay(options.training.routing_source());
    const auto& model = options.training.model;
    Controller controller(options.controller);
    Actions actions;
    for (Worker worker = 0; worker < workers; ++worker) controller.on(Joined{worker}, 0, actions);
    for (Step step = 0; step < kill_at; ++step) {
        const Epoch epoch = step + 1;
        for (Worker worker = 0; worker < workers; ++worker)
            controller.on(Ready{worker, epoch}, 0, actions);
        const std::int64_t rows =
            std::int64_t{workers} * options.training.sequences * model.context;
        std::vector<Loads> loads;
        for (int layer = 0; layer < model.layers; ++layer) {
            auto& counts = loads.emplace_back(static_cast<std::size_t>(model.experts), 0);
            for (auto expert : replay.at(step).choices(layer, 0, rows))
                ++counts[static_cast<std::size_t>(expert)];
        }
        for (Worker worker = 0; worker < workers; ++worker)
            controller.on(StepDone{worker, epoch, step, loads}, 0, actions);
    }
    for (auto action = actions.rbegin(); action != actions.rend(); ++action)
        if (const auto* plan = std::get_if<Reconfigure>(&*action)) return plan->holders;
    throw std::logic_error("the controller has planned nothing");
}

// Drawn from the seed until nothing is lost for good, as in the table.
std::vector<int> recoverable_victims(const SessionOptions& options, int lost, std::uint64_t seed) {
    const auto held = holdings_at_the_kill(options);
    std::vector<int> order(workers);
    std::iota(order.begin(), order.end(), 0);
    auto random = seeded_engine(seed, 0, 0);
    for (int attempt = 0; attempt < 10000; ++attempt) {
        seeded_shuffle(order, random);
        ModelPlacement left(held.size());
        for (std::size_t layer = 0; layer < held.size(); ++layer)
            for (int i = lost; i < workers; ++i)
                left[layer].push_back(
                    held[layer][static_cast<std::size_t>(order[static_cast<std::size_t>(i)])]);
        if (recoverable(left, options.training.model.experts)) return order;
    }
    throw SampleError(SampleStatus::failed, "no set of so many victims leaves every expert alive");
}

// Steps 0 and 1 replay iterations 1 and `step` + 1 of the trace; a rebalance follows each, so that
// the plan in force at step 2 is the one for the loads of `step`.
SessionOptions session_of(const Tab2& tab2, const std::string& routing,
                          const std::filesystem::path& corpus) {
    SpotTraining training;
    training.model = tab2.model;
    training.routing = routing;
    training.workers = workers;
    training.modelled_steps = 1;
    training.steps = kill_at + 2;
    training.seed = tab2.seed;
    training.real_layers = 12;
    auto options = spot_session(training, corpus, tab2.scratch);
    options.training.modelled_steps = tab2.step;
    options.controller.rebalance_every = 1;
    const auto victims = recoverable_victims(options, tab2.lost(), tab2.seed);
    for (int i = 0; i < tab2.lost(); ++i) {
        Fault fault;
        fault.kind = FaultKind::kill;
        fault.rank = victims[static_cast<std::size_t>(i)];
        fault.step = kill_at;
        options.faults.faults.push_back(fault);
    }
    return options;
}

void train(const Tab2& tab2, const std::string& routing, const std::filesystem::path& corpus,
           Recorder& recorder) {
    const auto options = session_of(tab2, routing, corpus);
    const auto result = run_training(cluster::make_fork_server(worker_main), options, recorder);
    if (!result.ok) throw SampleError(SampleStatus::failed, result.why);
    if (result.faults_fired != tab2.lost())
        throw SampleError(SampleStatus::invalid, "not all of the kills took place");
    const Tab2Found found(recorder);
    for (const auto& one : result.reconfigurations) {
        if (!one.after_death) continue;
        found.recovered(!one.restart);
        found.states_moved(one.transfers);
        found.reconfiguration_s(one.cost.total());
        found.transfer_s(one.cost.transfer_s);
        found.real_regroup_s(one.real_s);
    }
    if (!result.detections_real_s.empty()) found.real_detect_s(result.detections_real_s.back());
}

const tensors::Provided provided(lose_workers, train);

}  // namespace
}  // namespace assay::lazarus
