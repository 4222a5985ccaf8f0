// The module libassay_simgrid.so: a FlowEngine on SimGrid's.
//
// Everything is started from SimGrid's main context ("maestro"), without actors: an actor per flow
// or per node costs a context switch and a mailbox each. A flow is a host-to-host communication;
// that it has ended is told by SimGrid's signal. Engine::run() does not return before all is over,
// but it does as soon as the set of vetoed activities, which is meant for task graphs, holds
// anything: the signal puts the ended one there.
#include <signal.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <simgrid/s4u.hpp>
#include <stdexcept>
#include <unordered_map>

#include "suite/drive/simgrid/flow_engine.hpp"

namespace assay::drive {
namespace {

namespace s4u = simgrid::s4u;

// CM02 without TCP's peculiarities, which are those of a wide-area network: no factors, no
// acknowledgements as cross traffic, no window. Links have no latency here: with one, CM02 gives
// flows shares in inverse proportion to their round-trip times, which is not what collectives over
// InfiniBand or NVLink see. (Latencies are paid before a flow begins.)
constexpr std::array arguments = {
    "assay",
    "--cfg=network/model:CM02",
    "--cfg=network/optim:Lazy",
    "--cfg=network/crosstraffic:0",
    "--cfg=network/bandwidth-factor:1",
    "--cfg=network/latency-factor:1",
    "--cfg=network/weight-S:0",
    "--cfg=network/TCP-gamma:0",
    "--cfg=surf/precision:1e-9",
    "--cfg=debug/clean-atexit:0",
    "--log=root.thres:critical",
};

/// SimGrid installs handlers of its own for these.
class KeptSignalHandlers {
  public:
    KeptSignalHandlers() {
        for (std::size_t i = 0; i < signals.size(); ++i)
            ::sigaction(signals[i], nullptr, &kept_[i]);
    }
    ~KeptSignalHandlers() {
        for (std::size_t i = 0; i < signals.size(); ++i)
            ::sigaction(signals[i], &kept_[i], nullptr);
    }

  private:
    static constexpr std::array signals = {SIGINT, SIGSEGV, SIGBUS};
    std::array<struct sigaction, signals.size()> kept_ = {};
};

s4u::Engine& new_engine() {
    const KeptSignalHandlers handlers;
    static std::array<char*, arguments.size() + 1> values = {};
    std::transform(arguments.begin(), arguments.end(), values.begin(),
                   [](const char* argument) { return const_cast<char*>(argument); });
    int count = static_cast<int>(arguments.size());
    // Never deleted: SimGrid's engine cannot be built a second time anyway.
    return *new s4u::Engine(&count, values.data());
}

class SimGridEngine final : public FlowEngine {
  public:
    explicit SimGridEngine(const FlowPlatform& platform) : engine_(new_engine()) {
        build(platform);
        engine_.track_vetoed_activities(&stop_);
        s4u::Activity::on_completion_cb(
            [this](const s4u::Activity& activity) { note_end(activity); });
        models_ = engine_.get_all_models();
    }

    double clock() const override { return s4u::Engine::get_clock(); }

    void start(Id id, int from, int to, double bytes) override {
        auto flow = s4u::Comm::sendto_init(hosts_[static_cast<std::size_t>(from)],
                                           hosts_[static_cast<std::size_t>(to)]);
        flow->set_payload_size(static_cast<std::uint64_t>(bytes));
        flow->set_data(reinterpret_cast<void*>(id));
        flow->start();
        flows_.emplace(id, std::move(flow));
        next_end_ = unknown;
    }

    void cancel(Id id) override {
        const auto found = flows_.find(id);
        if (found == flows_.end()) return;
        found->second->set_data(nullptr);
        found->second->cancel();
        cancelled_.push_back(std::move(found->second));
        flows_.erase(found);
        next_end_ = unknown;
    }

    std::size_t under_way() const override { return flows_.size() + ended_.size(); }

    double next_end() override {
        // Until SimGrid has gone on, a cancelled flow keeps its share of the links.
        if (!cancelled_.empty()) pass(clock());
        if (!ended_.empty()) return clock();
        if (flows_.empty()) return never;
        if (next_end_ == unknown) {
            double first = -1;  // what models answer that have nothing to tell
            for (auto* const model : models_) {
                const double after = model->next_occurring_event(clock());
                if (after >= 0 && (first < 0 || after < first)) first = after;
            }
            if (first < 0) throw std::logic_error("SimGrid knows of no end of the flows under way");
            next_end_ = clock() + first;
        }
        return next_end_;
    }

    void advance(double until_s, std::vector<Id>& ended) override {
        if (next_end() <= until_s) {
            if (ended_.empty()) pass(to_the_next_end);
        } else {
            // SimGrid holds that it is there from 10 µs before on; and it may be short by a
            // rounding error that is too small to pass.
            for (double at = clock(); at < until_s && ended_.empty(); at = clock()) {
                pass(until_s);
                if (clock() == at) break;
            }
        }
        std::sort(ended_.begin(), ended_.end());
        ended.insert(ended.end(), ended_.begin(), ended_.end());
        ended_.clear();
    }

  private:
    static constexpr double unknown = -1, to_the_next_end = -1;

    void build(const FlowPlatform& platform) {
        auto* const core = s4u::create_star_zone("core");
        std::vector<const s4u::Link*> links;
        for (std::size_t i = 0; i < platform.links.size(); ++i)
            links.push_back(core->create_link("link" + std::to_string(i), platform.links[i]));
        const auto path = [&](int link) {
            std::vector<s4u::LinkInRoute> one;
            if (link != FlowPlatform::none) one.emplace_back(links[static_cast<std::size_t>(link)]);
            return one;
        };
        std::vector<s4u::NetZone*> zones;
        std::vector<simgrid::kernel::routing::NetPoint*> gateways;
        for (std::size_t i = 0; i < platform.switches.size(); ++i) {
            auto* const zone = s4u::create_star_zone("switch" + std::to_string(i));
            zone->set_parent(core);
            auto* const gateway = zone->create_router("gateway" + std::to_string(i));
            zone->add_route(gateway, nullptr, nullptr, nullptr, path(FlowPlatform::none), false);
            zone->add_route(nullptr, gateway, nullptr, nullptr, path(FlowPlatform::none), false);
            zones.push_back(zone);
            gateways.push_back(gateway);
        }
        for (std::size_t i = 0; i < platform.hosts.size(); ++i) {
            const auto& host = platform.hosts[i];
            auto* const zone = zones[static_cast<std::size_t>(host.on)];
            hosts_.push_back(zone->create_host("host" + std::to_string(i), 1.0));
            auto* const here = hosts_.back()->get_netpoint();
            zone->add_route(here, nullptr, nullptr, nullptr, path(host.up), false);
            zone->add_route(nullptr, here, nullptr, nullptr, path(host.down), false);
        }
        for (std::size_t i = 0; i < zones.size(); ++i) {
            zones[i]->seal();
            const auto& links_of = platform.switches[i];
            auto* const here = zones[i]->get_netpoint();
            core->add_route(here, nullptr, gateways[i], nullptr, path(links_of.up), false);
            core->add_route(nullptr, here, nullptr, gateways[i], path(links_of.down), false);
        }
        core->seal();
    }

    void note_end(const s4u::Activity& activity) {
        const auto id = reinterpret_cast<Id>(activity.get_data<void>());
        if (id == 0) return;  // a cancelled one
        ended_.push_back(id);
        stop_.insert(const_cast<s4u::Activity*>(&activity));
    }

    /// Runs up to `until_s`, but not beyond the next end.
    void pass(double until_s) {
        // What is being made is in this set too, for as long as it lacks a destination.
        stop_.clear();
        if (until_s == to_the_next_end)
            engine_.run();
        else
            engine_.run_until(until_s);
        next_end_ = unknown;
        for (const Id id : ended_) flows_.erase(id);
        cancelled_.clear();
    }

    s4u::Engine& engine_;
    std::vector<s4u::Host*> hosts_;
    std::vector<simgrid::kernel::resource::Model*> models_;
    std::unordered_map<Id, s4u::CommPtr> flows_;
    std::vector<s4u::CommPtr> cancelled_;  ///< SimGrid calls them when it goes on
    double next_end_ = unknown;
    std::set<s4u::Activity*> stop_;  ///< not empty: SimGrid returns
    std::vector<Id> ended_;          ///< not told yet
};

}  // namespace
}  // namespace assay::drive

/// Called once per process, by open_flow_engine.
extern "C" __attribute__((visibility("default"))) assay::drive::FlowEngine* assay_simgrid_engine_1(
    const assay::drive::FlowPlatform& platform) {
    return new assay::drive::SimGridEngine(platform);
}
