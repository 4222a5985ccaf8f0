#include "suite/drive/simulated/simulated_worker.hpp"

#include <utility>

namespace assay::drive {

SimulatedWorker::SimulatedWorker(WorkerId id, SimulatedWorld& world, WorkerProtocol protocol,
                                 Hooks hooks)
    : id_(id), world_(world), hooks_(std::move(hooks)), protocol_(protocol(*this)) {}

void SimulatedWorker::go_on() {
    try {
        protocol_.resume();
    } catch (const std::exception& error) {
        return hooks_.ends(error.what());
    }
    if (protocol_.done()) hooks_.ends("it went home");
}

void SimulatedWorker::deliver(nlohmann::json message) {
    mailbox_.push_back(std::move(message));
    if (std::exchange(receiving_, false)) go_on();
}

void SimulatedWorker::say(const nlohmann::json& message) {
    world_.to_policy(id_, [this, message] { hooks_.says(message); });
}

bool SimulatedWorker::can_take() {
    receiving_ = mailbox_.empty();
    return !receiving_;
}

std::optional<nlohmann::json> SimulatedWorker::take() {
    auto message = std::move(mailbox_.front());
    mailbox_.pop_front();
    return message;
}

bool SimulatedWorker::do_work(double modelled_s, const std::function<void()>&) {
    world_.after(id_, slowdown_ * modelled_s, [this] { go_on(); });
    return false;
}

}  // namespace assay::drive
