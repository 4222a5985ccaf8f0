// What the overview shows: every system and figure, whether its claims hold, what there is of it,
// and what runs. Plain values; no Qt.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gui/data/sample_totals.hpp"
#include "suite/experiment/system.hpp"
#include "suite/store/store.hpp"

namespace assay::gui {

/// By verdict as `assay claims --json` has it, without settings; none with a count of zero.
using VerdictCounts = std::map<std::string, long>;

struct OverviewExperiment {
    std::string id, title;  ///< title empty: no program here knows it
    VerdictCounts claims;
    std::map<std::string, long> samples;  ///< by status, of all sessions
    std::optional<std::string> newest;    ///< the newest session that has any
};

struct OverviewSystem {
    std::string id, title;
    std::vector<OverviewExperiment> experiments;
};

struct RunningSession {
    std::string id;
    long planned = 0, done = 0;         ///< samples; done: no longer running
    std::optional<std::string> sample;  ///< one that runs
};

struct Overview {
    std::string headline;  ///< "29 of 49 checked hold, …"
    VerdictCounts claims;
    /// In the order of `assay list`, then by id those that only claims or the database name.
    std::vector<OverviewSystem> systems;
    std::vector<RunningSession> running;
    long candidates = 0, confirmed = 0;  ///< open regressions
};

/// Throws store::StoreError. `totals`: of the same reader's earlier looks at the same file.
Overview read_overview(const Registry& registry, store::Store& store, SampleTotals& totals);
Overview read_overview(const Registry& registry, store::Store& store);

}  // namespace assay::gui
