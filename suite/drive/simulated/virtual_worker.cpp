#include "suite/drive/simulated/virtual_worker.hpp"

#include <algorithm>
#include <utility>

namespace assay::drive {

VirtualWorker::VirtualWorker(WorkerId id, SimulatedWorld& world, Surroundings& surroundings,
                             const std::function<Protocol(Worker&)>& protocol,
                             nlohmann::json configuration)
    : id_(id),
      world_(world),
      surroundings_(surroundings),
      configuration_(std::move(configuration)),
      protocol_(protocol(*this)) {}

void VirtualWorker::go_on() {
    waits_ = Waits::nothing;
    ++wait_;
    surroundings_.progresses(id_);
    try {
        protocol_.resume();
    } catch (const std::exception& error) {
        return surroundings_.ends(id_, error.what());
    }
    if (protocol_.done()) surroundings_.ends(id_, "exit 0");
}

void VirtualWorker::wait(Waits waits, double seconds) {
    waits_ = waits;
    world_.after(id_, seconds, [this, wait = wait_] { over(wait); });
}

void VirtualWorker::over(std::uint64_t wait) {
    if (wait == wait_) go_on();
}

// ---- messages -----------------------------------------------------------------------------------

void VirtualWorker::deliver(AnyMessage message) {
    const bool urgent = message.urgent();
    if (urgent && urgent_) urgent_(message);
    mailbox_.emplace_back(std::move(message));
    if (urgent && waits_ == Waits::together) {
        surroundings_.turns_away(id_, group_);
        return comes_out(Together::aborted);
    }
    if (urgent && waits_ == Waits::until_urgent) {
        lasted_ = false;
        return go_on();
    }
    interrupt();
}

void VirtualWorker::dismiss() {
    mailbox_.emplace_back(std::nullopt);
    interrupt();
}

void VirtualWorker::interrupt() {
    if (waits_ == Waits::interruptible) lasted_ = false;
    if (waits_ == Waits::interruptible || waits_ == Waits::message) go_on();
}

bool VirtualWorker::can_take(bool wait) {
    const bool can = !mailbox_.empty() && world_.awake(id_);
    if (!can && wait) waits_ = Waits::message;
    return can;
}

void VirtualWorker::woken() {
    if (waits_ == Waits::message && !mailbox_.empty()) go_on();
}

std::optional<AnyMessage> VirtualWorker::take() {
    if (!mailbox_.front()) return std::nullopt;  // who was dismissed gets nothing more
    auto message = std::move(mailbox_.front());
    mailbox_.erase(mailbox_.begin());
    return message;
}

void VirtualWorker::beside(double modelled_s, std::function<void()> real, AnyMessage done) {
    if (real) real();
    world_.after(id_, slowdown_ * modelled_s, [this, done = std::move(done)] { deliver(done); });
}

// ---- work ---------------------------------------------------------------------------------------

bool VirtualWorker::begin_work(double modelled_s, const std::function<void()>&) {
    wait(Waits::work, slowdown_ * modelled_s);
    return false;
}

bool VirtualWorker::begin_interruptible(double modelled_s, Interrupts by) {
    const bool any = by == Interrupts::any_message;
    lasted_ = any ? mailbox_.empty() : !has_urgent();
    if (!lasted_) return true;
    wait(any ? Waits::interruptible : Waits::until_urgent, slowdown_ * modelled_s);
    return false;
}

bool VirtualWorker::has_urgent() const {
    return std::any_of(mailbox_.begin(), mailbox_.end(),
                       [](const auto& message) { return message && message->urgent(); });
}

bool VirtualWorker::begin_point(std::string_view phase, long step) {
    waits_ = Waits::point;
    if (surroundings_.passes(id_, phase, step)) return true;
    if (!stuck_) wait(Waits::point, 0);  // if it lives, and when it is awake
    return false;
}

bool VirtualWorker::begin_together(const Group& group, double modelled_s,
                                   const std::function<void()>&) {
    group_ = group.number;
    if (has_urgent()) {
        outcome_ = Together::aborted;
        surroundings_.turns_away(id_, group_);
        return true;
    }
    waits_ = Waits::together;
    decided_ = false;
    arriving_ = true;
    surroundings_.arrives(id_, group, slowdown_ * modelled_s);
    arriving_ = false;
    return waits_ != Waits::together;
}

void VirtualWorker::comes_out(Together outcome) {
    if (waits_ != Waits::together) return;
    outcome_ = outcome;
    if (arriving_)
        waits_ = Waits::nothing;
    else
        go_on();
}

void VirtualWorker::meet(double seconds) {
    if (waits_ != Waits::together) return;  // it has turned away
    outcome_ = Together::done;
    wait(Waits::together, seconds);
}

void VirtualWorker::met(Together outcome) {
    if (waits_ != Waits::together || std::exchange(decided_, true)) return;
    outcome_ = outcome;
    wait(Waits::together, 0);
}

void VirtualWorker::stick() {
    stuck_ = true;
    waits_ = Waits::nothing;
    ++wait_;
}

std::optional<Fault> VirtualWorker::take_strike(FaultKind kind) {
    const auto found = std::find_if(faults_.begin(), faults_.end(),
                                    [&](const Fault& fault) { return fault.kind == kind; });
    if (found == faults_.end()) return std::nullopt;
    const Fault fault = *found;
    faults_.erase(found);
    surroundings_.is_struck(id_, fault);
    return fault;
}

// ---- what transfers take and bring --------------------------------------------------------------

namespace {

const Bytes* find(const std::map<std::string, Bytes>& objects, const std::string& object) {
    const auto found = objects.find(object);
    return found == objects.end() ? nullptr : &found->second;
}

}  // namespace

const Bytes* VirtualWorker::offered(const std::string& object) const {
    return find(offered_, object);
}
const Bytes* VirtualWorker::accepted(const std::string& object) const {
    return find(accepted_, object);
}

}  // namespace assay::drive
