#include "impls/lazarus/policy/membership.hpp"

#include <algorithm>
#include <iterator>

namespace assay::lazarus {

bool Membership::join(Worker worker) {
    if (gone_.count(worker) || members_.count(worker)) return false;
    return pending_.insert(worker).second;
}

Membership::Standing Membership::die(Worker worker) {
    if (!gone_.insert(worker).second) return Standing::gone;
    leave_requested_.erase(worker);
    departing_.erase(worker);
    if (members_.erase(worker)) return Standing::member;
    return pending_.erase(worker) ? Standing::pending : Standing::unknown;
}

Membership::Standing Membership::request_leave(Worker worker) {
    if (!members_.count(worker)) return die(worker);
    if (!departing_.count(worker)) leave_requested_.insert(worker);
    return Standing::member;
}

std::vector<Worker> Membership::admit_pending() {
    std::vector<Worker> admitted(pending_.begin(), pending_.end());
    members_.merge(pending_);
    return admitted;
}

std::vector<Worker> Membership::begin_departures() {
    std::vector<Worker> leavers(leave_requested_.begin(), leave_requested_.end());
    departing_.merge(leave_requested_);
    return leavers;
}

std::vector<Worker> Membership::dismiss_departing() {
    std::vector<Worker> dismissed(departing_.begin(), departing_.end());
    for (Worker worker : dismissed) members_.erase(worker);
    gone_.merge(departing_);
    return dismissed;
}

std::vector<Worker> Membership::training() const {
    std::vector<Worker> training;
    std::set_difference(members_.begin(), members_.end(), departing_.begin(), departing_.end(),
                        std::back_inserter(training));
    return training;
}

}  // namespace assay::lazarus
