#include "impls/lazarus/policy/controller/membership.hpp"

#include <algorithm>
#include <iterator>

namespace assay::lazarus {

bool Membership::is_known(Worker worker) const {
    return pending_.count(worker) || newcomers_.count(worker) || dropped_.count(worker) ||
           members_.count(worker) || gone_.count(worker);
}

bool Membership::join(Worker worker) {
    if (is_known(worker)) return false;
    return pending_.insert(worker).second;
}

Membership::Standing Membership::die(Worker worker) {
    if (!gone_.insert(worker).second) return Standing::gone;
    leave_requested_.erase(worker);
    departing_.erase(worker);
    if (members_.erase(worker)) return Standing::member;
    const bool waited =
        pending_.erase(worker) || newcomers_.erase(worker) || dropped_.erase(worker);
    return waited ? Standing::waiting : Standing::unknown;
}

Membership::Standing Membership::request_leave(Worker worker) {
    if (!members_.count(worker)) return die(worker);
    if (!departing_.count(worker)) leave_requested_.insert(worker);
    return Standing::member;
}

std::vector<Worker> Membership::admit(std::size_t most) {
    std::vector<Worker> admitted;
    while (!newcomers_.empty() && admitted.size() < most) {
        admitted.push_back(*newcomers_.begin());
        members_.insert(newcomers_.extract(newcomers_.begin()));
    }
    return admitted;
}

std::vector<Worker> Membership::leave_out(const std::vector<Worker>& workers, bool drop) {
    std::vector<Worker> leavers;
    for (Worker worker : workers) {
        members_.erase(worker);
        if (leave_requested_.erase(worker)) {
            leavers.push_back(worker);
            gone_.insert(worker);
        } else {
            (drop ? dropped_ : newcomers_).insert(worker);
        }
    }
    return leavers;
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
