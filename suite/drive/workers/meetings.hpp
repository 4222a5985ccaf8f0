// Who waits for whom in what workers do together (Worker::together), whatever the clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "suite/drive/worker.hpp"

namespace assay::drive {

class Meetings {
  public:
    struct Arrival {
        bool broken = false;  ///< one has turned away from it
        bool complete =
            false;             ///< the last is there: the work begins, each goes on when it is done
        double last_s = 0;     ///< when that one came
        double longest_s = 0;  ///< what the slowest needs
    };
    Arrival arrive(const Group& group, WorkerId worker, double at_s, double needs_s) {
        const Key key = next(group.number, worker);
        Meeting& meeting = meetings_[key];
        meeting.awaits.insert(group.members.begin(), group.members.end());
        meeting.there.insert(worker);
        meeting.last_s = std::max(meeting.last_s, at_s);
        meeting.longest_s = std::max(meeting.longest_s, needs_s);
        meets_[worker] = key;
        return {.broken = left_.contains(key),
                .complete = meeting.there == meeting.awaits,
                .last_s = meeting.last_s,
                .longest_s = meeting.longest_s};
    }
    bool empty() const { return meets_.empty(); }
    /// It is in a meeting of that group, and this has not come out.
    bool has(std::int64_t group, WorkerId worker) const {
        const auto met = meets_.find(worker);
        return met != meets_.end() && met->second.first == group;
    }
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
    /// It takes no part in the group's next meeting, there or not: who comes to it finds it broken.
    void turn_away(std::int64_t group, WorkerId worker) { left_.insert(next(group, worker)); }
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
        double last_s = 0, longest_s = 0;
    };
    Key next(std::int64_t group, WorkerId worker) const {
        const auto found = rounds_.find({group, worker});
        return {group, found == rounds_.end() ? 0 : found->second};
    }

    std::map<Key, Meeting> meetings_;
    std::map<WorkerId, Key> meets_;
    std::set<Key> left_;
    std::map<std::pair<std::int64_t, WorkerId>, std::int64_t> rounds_;
};

}  // namespace assay::drive
