#include "suite/drive/processes/injection.hpp"

#include "suite/drive/fault_effects.hpp"

namespace assay::drive {

nlohmann::json inject_message(const Fault& fault, std::size_t index) {
    return {{"type", "inject"},
            {"fault", to_string(fault)},
            {"index", index},
            {"urgent", strikes_transport(fault)}};
}

Fault injected_from(const nlohmann::json& message, const FaultPhases& phases) {
    return parse_fault(message.at("fault").get<std::string>(), phases);
}

bool strikes_transport(const Fault& fault) { return effect_of(fault).place == FaultPlace::links; }

void LinkStrikes::inject(const Fault& fault, std::size_t index) {
    if (fault.kind == FaultKind::corrupt) {
        const std::lock_guard lock(mutex_);
        waiting_.push_back(index);
        return links_->corrupt_next_message();
    }
    links_->set(fault.peer.value_or(-1),
                {.latency = cluster::Seconds(fault.latency_s),
                 .bandwidth = fault.bandwidth,
                 .loss = fault.loss,
                 .cut = fault.cut},
                fault.for_s ? std::optional(cluster::Seconds(*fault.for_s)) : std::nullopt);
}

std::vector<std::size_t> LinkStrikes::corrupted() {
    const std::lock_guard lock(mutex_);
    std::vector<std::size_t> struck;
    if (waiting_.empty()) return struck;
    for (const long all = links_->counts().corrupted; known_ < all && !waiting_.empty(); ++known_) {
        struck.push_back(waiting_.front());
        waiting_.pop_front();
    }
    return struck;
}

}  // namespace assay::drive
