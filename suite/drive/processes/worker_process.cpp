#include "suite/drive/processes/worker_process.hpp"

#include "suite/cluster/collectives/checksum_layer.hpp"
#include "suite/cluster/pacer.hpp"
#include "suite/drive/processes/injection.hpp"

namespace assay::drive {

using nlohmann::json;

WorkerProcess::WorkerProcess(WorkerId self, cluster::ControlChannel& control, const json& config,
                             std::shared_ptr<cluster::LinkFaults> links, FaultPhases phases,
                             Hooks hooks)
    : self_(self),
      control_(control),
      phases_(std::move(phases)),
      hooks_(std::move(hooks)),
      link_strikes_(std::make_shared<LinkStrikes>(std::move(links))),
      points_(config.at("points")) {
    // Not `this`: the channel's listener outlives the worker.
    control_.start(
        cluster::Seconds(config.at("heartbeat_s").get<double>()),
        [strikes = link_strikes_, phases = phases_, urgent = hooks_.urgent](const json& message) {
            if (message.value("type", "") == "inject")
                strikes->inject(injected_from(message, phases), message.at("index"));
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
    while (points_.reach(phase, step)) {
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

bool WorkerProcess::guarded(Epoch epoch, const std::function<void()>& body) {
    using Cause = Suspicion::Cause;
    try {
        body();
        report_strikes();
        return true;
    } catch (const cluster::CorruptMessage& broken) {
        report_broken(epoch, broken, Cause::corrupt_message, broken.from());
    } catch (const cluster::Unreachable& broken) {
        report_broken(epoch, broken, Cause::unreachable, self_);
    } catch (const cluster::CommunicatorBroken& broken) {
        report_broken(epoch, broken, Cause::unexplained, -1);
    }
    return false;
}

void WorkerProcess::report_broken(Epoch epoch, const std::exception& broken, Suspicion::Cause cause,
                                  WorkerId suspect) {
    report_strikes();
    say({{"type", "broken"},
         {"epoch", epoch},
         {"why", broken.what()},
         {"cause", cause},
         {"suspect", suspect},
         {"clock_s", cluster::monotonic_s()}});
}

void WorkerProcess::report_strikes() {
    for (const std::size_t index : link_strikes_->corrupted()) struck(index);
}

}  // namespace assay::drive
