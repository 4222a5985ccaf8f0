#include "suite/drive/processes/worker_process.hpp"

#include <algorithm>

#include "suite/cluster/collectives/checksum_layer.hpp"
#include "suite/cluster/pacer.hpp"

namespace assay::drive {

using nlohmann::json;

namespace {

bool strikes_transport(const Fault& fault) {
    return fault.kind == FaultKind::link || fault.target == "message";
}

// At once, on the listener's thread.
void inject_into_transport(cluster::LinkFaults& links, const Fault& fault) {
    if (fault.kind == FaultKind::corrupt) return links.corrupt_next_message();
    links.set(fault.peer.value_or(-1),
              {.latency = cluster::Seconds(fault.latency_s),
               .bandwidth = fault.bandwidth,
               .loss = fault.loss,
               .cut = fault.cut},
              fault.for_s ? std::optional(cluster::Seconds(*fault.for_s)) : std::nullopt);
}

}  // namespace

json inject_message(const Fault& fault, std::size_t index) {
    return {{"type", "inject"},
            {"fault", to_string(fault)},
            {"index", index},
            {"urgent", strikes_transport(fault)}};
}

Fault injected_from(const json& message, const FaultPhases& phases) {
    return parse_fault(message.at("fault").get<std::string>(), phases);
}

WorkerProcess::WorkerProcess(WorkerId self, cluster::ControlChannel& control, const json& config,
                             std::shared_ptr<cluster::LinkFaults> links, FaultPhases phases,
                             Hooks hooks)
    : self_(self), control_(control), phases_(std::move(phases)), hooks_(std::move(hooks)) {
    for (const auto& point : config.at("points"))
        points_.push_back({point.at("phase"), point.at("step")});
    // Not `this`: the channel's listener outlives the worker.
    control_.start(
        cluster::Seconds(config.at("heartbeat_s").get<double>()),
        [links = std::move(links), phases = phases_, urgent = hooks_.urgent](const json& message) {
            if (message.value("type", "") == "inject")
                inject_into_transport(*links, injected_from(message, phases));
            else if (urgent)
                urgent(message);
        });
}

std::optional<json> WorkerProcess::receive() {
    while (true) {
        std::optional<json> message;
        if (deferred_.empty()) {
            message = control_.receive();
        } else {
            message = std::move(deferred_.front());
            deferred_.pop_front();
        }
        if (!message) return message;
        const auto type = message->value("type", "");
        if (type == "inject")
            inject(*message);
        else if (type == "stop_requested")
            say({{"type", "leave_requested"}});
        else
            return message;
    }
}

void WorkerProcess::wait_at(const std::string& phase, long step) {
    const bool exact = is_of_step(phase);
    while (true) {
        const auto reached = std::find_if(points_.begin(), points_.end(), [&](const auto& point) {
            return point.phase == phase && (exact ? point.step == step : point.step <= step);
        });
        if (reached == points_.end()) return;
        points_.erase(reached);
        say({{"type", "at_point"}, {"phase", phase}, {"step", step}});
        while (auto message = control_.receive()) {
            const auto type = message->value("type", "");
            if (type == "continue") break;
            if (type == "inject")
                inject(*message);
            else
                deferred_.push_back(std::move(*message));
        }
    }
}

void WorkerProcess::inject(const json& message) {
    const auto fault = injected_from(message, phases_);
    if (strikes_transport(fault)) return;  // done by the listener
    if (hooks_.strikes) hooks_.strikes(fault, message.at("index"));
}

void WorkerProcess::guarded(Epoch epoch, const std::function<void()>& body) {
    using Cause = Suspicion::Cause;
    try {
        body();
    } catch (const cluster::CorruptMessage& broken) {
        report_broken(epoch, broken, Cause::corrupt_message, broken.from());
    } catch (const cluster::Unreachable& broken) {
        report_broken(epoch, broken, Cause::unreachable, self_);
    } catch (const cluster::CommunicatorBroken& broken) {
        report_broken(epoch, broken, Cause::unexplained, -1);
    }
}

void WorkerProcess::report_broken(Epoch epoch, const std::exception& broken, Suspicion::Cause cause,
                                  WorkerId suspect) {
    say({{"type", "broken"},
         {"epoch", epoch},
         {"why", broken.what()},
         {"cause", cause},
         {"suspect", suspect},
         {"clock_s", cluster::monotonic_s()}});
}

}  // namespace assay::drive
