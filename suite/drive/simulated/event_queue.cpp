#include "suite/drive/simulated/event_queue.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace assay::drive {

EventQueue::Id EventQueue::at(double t_s, Callback what) {
    if (std::isnan(t_s)) throw std::invalid_argument("an event at no time");
    if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(slots_.size()));
        slots_.emplace_back();
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    slots_[slot].what = std::move(what);
    const std::uint32_t use = slots_[slot].use;
    heap_.push_back({.due_s = std::max(t_s, now_), .order = ++asked_, .slot = slot, .use = use});
    std::push_heap(heap_.begin(), heap_.end());
    ++waiting_;
    return (Id{use} << 32) | slot;
}

void EventQueue::cancel(Id id) {
    const auto slot = static_cast<std::uint32_t>(id);
    if (slot < slots_.size() && slots_[slot].use == id >> 32) release(slot);
}

EventQueue::Callback EventQueue::release(std::uint32_t slot) {
    ++slots_[slot].use;
    --waiting_;
    free_.push_back(slot);
    return std::exchange(slots_[slot].what, nullptr);
}

bool EventQueue::next(double until_s) {
    while (!heap_.empty()) {
        const Entry first = heap_.front();
        const bool stale = cancelled(first);
        if (!stale && first.due_s > until_s) return false;
        std::pop_heap(heap_.begin(), heap_.end());
        heap_.pop_back();
        if (stale) continue;
        now_ = first.due_s;
        ++happened_;
        release(first.slot)();
        return true;
    }
    return false;
}

}  // namespace assay::drive
