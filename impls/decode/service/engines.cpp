#include "impls/decode/service/engines.hpp"

#include <utility>

namespace assay::decode {

Engines::Engines(drive::Driver& driver, std::string role)
    : driver_(driver), role_(std::move(role)) {
    driver_.listen([this](const drive::DriverEvent& event) { on(event); });
}

Engines::~Engines() { driver_.listen({}); }

EngineClient& Engines::start(const EngineSettings& settings, const std::string& instance) {
    const drive::WorkerId worker =
        driver_.spawn({.role = role_, .instance = instance}, drive::to_json(settings));
    EngineClient& engine = engines_.emplace_back(*this, worker, settings);
    by_worker_[worker] = &engine;
    return engine;
}

bool Engines::hear_until(const std::function<bool()>& so, double most_s) {
    const double end_s = driver_.now() + most_s;
    while (!so()) {
        const double left_s = end_s - driver_.now();
        if (left_s <= 0) return false;
        if (!hear(left_s)) return so();
    }
    return true;
}

void Engines::on(const drive::DriverEvent& event) {
    const auto engine = [this](drive::WorkerId worker) -> EngineClient* {
        const auto found = by_worker_.find(worker);
        return found == by_worker_.end() ? nullptr : found->second;
    };
    if (const auto* const said = std::get_if<drive::Said>(&event)) {
        if (EngineClient* const one = engine(said->worker)) return one->on(said->message);
    } else if (const auto* const died = std::get_if<drive::Died>(&event)) {
        if (EngineClient* const one = engine(died->worker))
            return one->died(driver_.how_ended(died->worker));
    } else if (const auto* const joined = std::get_if<drive::Joined>(&event)) {
        if (engine(joined->worker)) return;
    }
    if (others_) others_(event);
}

}  // namespace assay::decode
