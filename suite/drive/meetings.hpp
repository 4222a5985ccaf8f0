// Who waits for whom in what workers do together (Worker::together), whatever the clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "suite/drive/worker.hpp"

namespace assay::drive {

class Meetings {
  public:
    /// All members, once the last of them is there: then the work begins, and each goes on when it
    /// is done with it.
    std::optional<std::vector<WorkerId>> arrive(const Group& group, WorkerId worker) {
        const Key key{group.number, rounds_[{group.number, worker}]};
        Meeting& meeting = meetings_[key];
        meeting.awaits.insert(group.members.begin(), group.members.end());
        meeting.there.insert(worker);
        meets_[worker] = key;
        return meeting.there == meeting.awaits ? std::optional(group.members) : std::nullopt;
    }
    bool empty() const { return meets_.empty(); }
    /// It has come out, well or badly, for this one.
    void go_on(WorkerId worker) {
        const auto met = meets_.extract(worker);
        if (!met) return;
        const Key key = met.mapped();
        ++rounds_[{key.first, worker}];
        Meeting& meeting = meetings_.at(key);
        meeting.there.erase(worker);
        meeting.awaits.erase(worker);
        if (meeting.there.empty()) meetings_.erase(key);
    }
    /// Who is in a meeting that needs this one, there or not: for them it breaks when this one dies
    /// or turns away.
    std::vector<WorkerId> need(WorkerId worker) const {
        std::vector<WorkerId> others;
        for (const auto& [key, meeting] : meetings_)
            if (meeting.awaits.contains(worker))
                for (const WorkerId other : meeting.there)
                    if (other != worker) others.push_back(other);
        return others;
    }

  private:
    using Key =
        std::pair<std::int64_t, std::int64_t>;  // number of a group, and its meetings so far
    struct Meeting {
        std::set<WorkerId> awaits, there;
    };
    std::map<Key, Meeting> meetings_;
    std::map<WorkerId, Key> meets_;
    std::map<std::pair<std::int64_t, WorkerId>, std::int64_t> rounds_;
};

}  // namespace assay::drive
