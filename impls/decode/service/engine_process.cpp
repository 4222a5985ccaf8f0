#include "impls/decode/service/engine_process.hpp"

#include <algorithm>
#include <cmath>

#include "impls/decode/back_ends.hpp"
#include "suite/base/error.hpp"
#include "suite/cluster/pacer.hpp"

namespace assay::decode {
namespace {

constexpr cluster::Seconds at_once{0}, while_it_loads{0.002};

/// Nothing: there is something better to do than to wait for it; `over`: nobody is there any more.
std::optional<nlohmann::json> next_message(const service::EngineHost& host,
                                           cluster::ControlChannel& control, bool& over) {
    if (host.works()) return control.try_receive(at_once);
    if (host.loads()) return control.try_receive(while_it_loads);
    auto message = control.receive();
    over = !message.has_value();
    return message;
}

int run_engine(cluster::ControlChannel& control, const nlohmann::json& config,
               const MakeBackEnd& make) {
    control.start(cluster::Seconds(config.at("heartbeat_s").get<double>()));
    service::EngineHost host(drive::from_json<EngineSettings>(config.at("engine")), make);
    service::StepPacer pacer(host.settings().pace ? host.settings().speed : 1);
    std::vector<service::FromEngine> answers;
    for (bool over = false; !over && !host.leaves();) {
        answers.clear();
        if (!host.works()) pacer.rest();
        const auto message = next_message(host, control, over);
        if (message && message->value("type", "") == "stop_requested") break;
        if (message)
            host.on(drive::message_to<service::ToEngine>(*message), answers);
        else if (host.works())
            host.step(answers);
        host.look(answers);
        if (const double busy_s = host.take_busy_seconds(); busy_s > 0)
            host.note_late(pacer.hold(busy_s));
        for (const service::FromEngine& answer : answers) control.send(drive::to_message(answer));
    }
    return 0;
}

}  // namespace

cluster::WorkerMain engine_worker(MakeBackEnd make) {
    return [make = std::move(make)](cluster::WorkerId, cluster::ControlChannel& control,
                                    const nlohmann::json& config) {
        return run_engine(control, config, make);
    };
}

nlohmann::json engine_configuration(const EngineSettings& settings, cluster::Seconds heartbeat) {
    return {{"engine", drive::to_json(settings)}, {"heartbeat_s", heartbeat.count()}};
}

MakeBackEnd back_ends_of_files() {
    return [](const EngineSettings& settings, const std::string& weights) {
        const nn::TensorFile file(weights);
        return back_ends_of(file, {.threads = settings.threads, .blocks = settings.blocks})();
    };
}

namespace service {

StepPacer::StepPacer(double speed) : speed_(speed) {
    if (!(speed > 0) || !std::isfinite(speed))
        throw UserError("a paced engine's speed is a positive number");
}

double StepPacer::hold(double modelled_s) {
    constexpr double little_s = 0.02;  // a busy machine's wake-ups
    const double real_s = modelled_s / speed_;
    const double now_s = cluster::monotonic_s();
    if (std::exchange(rested_, false)) free_s_ = std::max(free_s_, now_s);
    free_s_ += real_s;
    cluster::sleep_until(free_s_);
    const double late_s = cluster::monotonic_s() - free_s_;
    if (late_s < std::max(little_s, real_s)) return 0;
    free_s_ += late_s;
    return late_s * speed_;
}

}  // namespace service
}  // namespace assay::decode
