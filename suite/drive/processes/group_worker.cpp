#include "suite/drive/processes/group_worker.hpp"

#include <algorithm>
#include <stdexcept>

#include "suite/drive/fault_effects.hpp"

namespace assay::drive {
namespace {

[[noreturn]] void refuse(const char* what) {
    throw std::logic_error(std::string("a worker in groups has no use for ") + what);
}

}  // namespace

GroupWorker::GroupWorker(WorkerId self, cluster::ControlChannel& control,
                         const nlohmann::json& config, std::shared_ptr<cluster::LinkFaults> links,
                         FaultPhases phases)
    : self_(self),
      configuration_(config),
      urgent_(std::make_shared<UrgentHandler>()),
      process_(self, control, config, std::move(links), std::move(phases),
               {.urgent =
                    [urgent = urgent_](const nlohmann::json& message) {
                        const std::lock_guard calling(urgent->calling);
                        if (urgent->handler) urgent->handler(AnyMessage::of_json(message));
                    },
                .strikes = [this](const Fault& fault,
                                  std::size_t index) { faults_.emplace_back(fault, index); }}) {}

int GroupWorker::run(Protocol protocol) {
    struct End {
        GroupWorker& worker;
        ~End() { worker.urgent({}); }
    } const end{*this};
    process_.join();
    protocol.resume();  // it waits inside, and comes back at its end
    return dismissed_ ? 0 : 1;
}

void GroupWorker::urgent(std::function<void(const AnyMessage&)> handler) {
    const std::lock_guard calling(urgent_->calling);
    urgent_->handler = std::move(handler);
}

void GroupWorker::beside(double, std::function<void()>, AnyMessage) { refuse("work beside"); }
void GroupWorker::offer(const std::string&, const Bytes&) { refuse("transfers"); }
void GroupWorker::accept(const std::string&, const Bytes&) { refuse("transfers"); }
void GroupWorker::withdraw(const std::string&) { refuse("transfers"); }

// Nothing is held to a modelled time here: what takes long is real.
bool GroupWorker::begin_interruptible(double, Interrupts by) {
    if (by == Interrupts::any_message) refuse("work until a message");
    return true;
}

bool GroupWorker::can_take(bool wait) {
    if (!wait) refuse("polling");
    if (next_ || dismissed_) return true;
    auto message = process_.receive();
    if (message && message->at("type") == "dismiss")
        dismissed_ = true;
    else if (message)
        next_ = AnyMessage::of_json(*std::move(message));
    return true;
}

bool GroupWorker::begin_work(double, const std::function<void()>& real) {
    if (real) real();
    return true;
}

bool GroupWorker::begin_point(std::string_view phase, long step) {
    if (phase != step_point) process_.wait_at(std::string(phase), step);
    return true;
}

bool GroupWorker::begin_together(const Group& group, double, const std::function<void()>& real) {
    outcome_ = process_.guarded(group.number, real) ? Together::done : Together::broken;
    return true;
}

std::optional<Fault> GroupWorker::take_strike(FaultKind kind) {
    const auto found =
        std::ranges::find(faults_, kind, [](const auto& one) { return one.first.kind; });
    if (found == faults_.end()) return std::nullopt;
    const auto [fault, index] = *found;
    faults_.erase(found);
    process_.struck(index);
    return fault;
}

}  // namespace assay::drive
