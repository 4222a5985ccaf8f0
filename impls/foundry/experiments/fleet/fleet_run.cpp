#include "impls/foundry/experiments/fleet/fleet_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "impls/foundry/campaign/modelled_engine.hpp"
#include "suite/drive/policy_run.hpp"
#include "suite/drive/simulated/event_queue.hpp"
#include "suite/drive/simulated/virtual_cluster.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::foundry {
namespace {

constexpr const char *archive = "archive", *chip = "H100";

/// The modelled engine has what single graphs cost; this adds what a whole start does, and
/// requests.
class FleetEngine final : public Engine {
  public:
    FleetEngine(std::unique_ptr<Engine> graphs, const FleetSetup& setup, const int& ready,
                double rest_s)
        : graphs_(std::move(graphs)), setup_(setup), ready_(ready), seconds_(rest_s) {}

    std::string save(const std::string& name) override { return graphs_->save(name); }
    std::string open(const Open& open) override {
        if (opened_) return graphs_->open(open);
        opened_ = true;
        const std::size_t graphs = setup_.group_of.size();
        const std::size_t groups = 1 + *std::ranges::max_element(setup_.group_of);
        const Costs& costs = setup_.costs;
        // Captured graphs that find their signature's executable are not instantiated.
        if (open.mode == Mode::dedup)
            seconds_ += static_cast<double>(graphs - groups) * (costs.capture - costs.instantiate);
        // Where members are prepared for longer than templates are built.
        if (restores(open.mode) && open.mode != Mode::no_templates && open.mode != Mode::relocate)
            seconds_ += ready_times(costs, graphs, groups).r1 - costs.images -
                        static_cast<double>(groups) * seconds(Make::build, costs);
        return graphs_->open(open);
    }
    std::string make(const Executables::Task& task) override { return graphs_->make(task); }
    std::vector<std::size_t> group_of() const override { return graphs_->group_of(); }
    std::variant<std::uint64_t, NoResult> decode(int request, std::size_t graph,
                                                 bool plain) override {
        const bool all = ready_ >= setup_.loader.servers;
        seconds_ += all ? setup_.request_s : setup_.short_request_s.value_or(setup_.request_s);
        return graphs_->decode(request, graph, plain);
    }
    double take_seconds() override { return std::exchange(seconds_, 0) + graphs_->take_seconds(); }

  private:
    std::unique_ptr<Engine> graphs_;
    const FleetSetup& setup_;
    const int& ready_;
    double seconds_ = 0;
    bool opened_ = false;
};

/// What the loader was told of and asked for, as times.
class Watch {
  public:
    explicit Watch(const FleetSetup& setup) {
        course_.served_s.assign(setup.arrivals_s.size(), FleetCourse::never);
        course_.servers.assign(static_cast<std::size_t>(setup.loader.servers), {});
    }

    void see(const drive::Decision<Loader>& decision) {
        now_s_ = decision.now_s;
        std::visit([this](const auto& event) { see_event(event); }, decision.event);
        for (const auto& action : decision.actions)
            if (std::holds_alternative<drive::Spawn>(action))
                course_.servers.push_back({.spawned_s = now_s_});
    }
    /// Servers that live and are ready.
    const int& ready() const { return ready_; }

    FleetCourse ended() {
        course_.ended_s = now_s_;
        for (FleetCourse::Server& server : course_.servers)
            if (server.ended_s == 0) server.ended_s = now_s_;
        return std::move(course_);
    }

  private:
    FleetCourse::Server& of(drive::WorkerId worker) {
        return course_.servers.at(static_cast<std::size_t>(worker));
    }
    template <class Event>
    void see_event(const Event&) {}
    void see_event(const drive::From<Ready>& ready) {
        of(ready.worker).ready_s = now_s_;
        ++ready_;
    }
    void see_event(const drive::From<Served>& served) {
        course_.served_s.at(static_cast<std::size_t>(served.message.request)) = now_s_;
    }
    void see_event(const drive::Died& died) {
        if (of(died.worker).ready_s < FleetCourse::never) --ready_;
        of(died.worker).ended_s = now_s_;
    }

    FleetCourse course_;
    double now_s_ = 0;
    int ready_ = 0;
};

void demand_right_results(const FleetSetup& setup, bool ok, const std::string& why,
                          const Loader& loader) {
    if (!ok) throw SampleError(SampleStatus::failed, "the fleet did not serve all: " + why);
    for (std::size_t request = 0; request < setup.arrivals_s.size(); ++request)
        if (loader.result(request) !=
            right_result(static_cast<int>(request), setup.loader.requests.at(request)))
            throw SampleError(
                SampleStatus::failed,
                fmt::format("request {} has another result than its graph's", request));
}

}  // namespace

FleetCourse run_fleet(const FleetSetup& setup) {
    LoaderSettings loader = setup.loader;
    loader.archives = {archive};
    ModelledDisk disk;
    disk.archives[archive] = {.chip = chip};
    ModelledSettings modelled;
    modelled.group_of = setup.group_of;
    modelled.chips = {chip};
    modelled.costs = setup.costs;
    modelled.step_s = 0;

    Watch watch(setup);
    const MakeEngine graphs = modelled_engines(modelled, disk);
    const MakeEngine engines = [&](drive::Worker& me) -> std::unique_ptr<Engine> {
        const bool later = me.id() >= setup.loader.servers;
        return std::make_unique<FleetEngine>(graphs(me), setup, watch.ready(),
                                             setup.rest_s - (later ? setup.not_repeated_s : 0));
    };
    drive::EventQueue time;
    drive::ConstantLatencies latencies(/*message_s=*/0, setup.detect_s, setup.boot_s);
    MemoryRecorder recorder;
    drive::VirtualCluster driver(loader_roles(engines), time, latencies, {.faults = setup.faults},
                                 recorder);
    drive::PolicyRun<Loader> run(
        Loader(std::move(loader)), driver,
        [&](const drive::Decision<Loader>& decision) { watch.see(decision); });
    for (std::size_t request = 0; request < setup.arrivals_s.size(); ++request)
        driver.start(drive::StartTimer{request, setup.arrivals_s[request]});
    for (int i = 0; i < setup.loader.servers; ++i) driver.spawn({"server", ""});
    const auto course = run.run();
    demand_right_results(setup, course.ok, course.why, run.policy());
    FleetCourse result = watch.ended();
    result.struck = course.faults_struck;
    return result;
}

}  // namespace assay::foundry
