#include "suite/drive/event_queue.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace assay::drive {

EventQueue::Id EventQueue::at(double t_s, Callback what) {
    if (std::isnan(t_s)) throw std::invalid_argument("an event at no time");
    const double due = std::max(t_s, now_);
    const Id id = ++ids_;
    waiting_.emplace(std::pair(due, id), std::move(what));
    due_.emplace(id, due);
    return id;
}

void EventQueue::cancel(Id id) {
    const auto found = due_.find(id);
    if (found == due_.end()) return;
    waiting_.erase({found->second, id});
    due_.erase(found);
}

bool EventQueue::next(double until_s) {
    if (waiting_.empty() || waiting_.begin()->first.first > until_s) return false;
    auto first = waiting_.extract(waiting_.begin());
    now_ = first.key().first;
    due_.erase(first.key().second);
    ++happened_;
    first.mapped()();
    return true;
}

}  // namespace assay::drive
