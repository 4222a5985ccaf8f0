#include "impls/rl/live/rollout_engines.hpp"

#include <algorithm>
#include <stdexcept>

namespace assay::rl {

RolloutEngines::RolloutEngines(decode::Engines& engines, const decode::EngineSettings& settings,
                               int wanted)
    : engines_(engines), settings_(settings), wanted_(wanted), chooser_(engines.pool()) {
    engines_.place_by(chooser_);
}

void RolloutEngines::publish(int version, const std::string& weights) {
    version_ = version;
    settings_.options.version = version;
    settings_.weights = weights;
    chooser_.want(version);
    look();
}

void RolloutEngines::look() {
    if (version_ == 0) return;
    for (Host& host : hosts_)
        if (!host.gone) look_at(host);
    while (std::count_if(hosts_.begin(), hosts_.end(), [](const Host& h) { return !h.gone; }) <
           wanted_)
        start_one();
}

void RolloutEngines::start_one() {
    decode::EngineClient& engine = engines_.start(settings_);
    hosts_.push_back({.engine = &engine, .asked = version_});
}

void RolloutEngines::look_at(Host& host) {
    decode::EngineClient& engine = *host.engine;
    if (engine.lost()) {
        host.gone = true;
        ++lost_;
        const std::string& how = engine.how_lost();
        if (how != "killed" && how != "frozen" && how != "signal 9" &&
            !how.starts_with("heartbeat lost"))
            throw std::runtime_error("an engine ended by itself: " + how);
        return;
    }
    if (!engine.ready()) return;
    if (!engine.why_not_loaded().empty())
        throw std::runtime_error("an engine does not take the weights: " + engine.why_not_loaded());
    if (engine.version() == host.asked) {
        host.commits = false;
        if (host.asked == version_) return;
        host.asked = version_;
        engine.load(version_, settings_.weights);
    } else if (engine.prepared() == host.asked && !host.commits) {
        engine.begin_commit(decode::BatchEngine::Cache::recompute);
        host.commits = true;
    }
}

}  // namespace assay::rl
