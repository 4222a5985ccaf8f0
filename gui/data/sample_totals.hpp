// How many samples there are of each experiment, followed while runs write: counted once, then only
// what changed. Plain values; no Qt.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "suite/store/store.hpp"

namespace assay::gui {

class SampleTotals {
  public:
    /// As Store::sample_counts(), of what is stored now. Costs a pass over all samples the first
    /// time, and when something was removed, the file replaced or a run that was over goes on;
    /// else as much as has changed.
    std::vector<store::ExperimentCounts> read(const store::Store& store);

    /// Sessions in the state "running" when it was read last, the newest first.
    std::vector<store::Session> running() const;

  private:
    using Counted = std::pair<std::string, std::string>;  // experiment, status
    struct Total {
        store::ExperimentCounts counts;
        long newest_arrival = 0;  ///< Session::arrival of counts.newest; 0: that one is over
    };

    void count(const store::Store& store);
    bool apply(const store::Changes& changes);
    void follow(const store::Changes& changes);

    std::optional<store::Cursor> cursor_;             // nothing: to be counted
    std::map<std::string, Total> totals_;             // by experiment
    std::map<std::string, Counted> followed_;         // samples of followed sessions, by id
    std::map<std::string, store::Session> sessions_;  // followed, by id
    std::string latest_started_;  // of the sessions that had samples when it was counted
};

}  // namespace assay::gui
