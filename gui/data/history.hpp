// How rows went over the sessions: since when, and what changed then? Plain values; no Qt.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "suite/experiment/system.hpp"
#include "suite/report/trend/trend.hpp"
#include "suite/store/nights.hpp"
#include "suite/store/store.hpp"

namespace assay::gui {

/// What somebody wrote about a session of a trend.
struct SessionNote {
    std::string at, session, text;
};

struct TrendHistory {
    report::Trend trend;
    std::string row;                                ///< what reports call it among these
    std::vector<SessionNote> notes;                 ///< oldest first
    std::vector<store::RowOfNight> nights;          ///< oldest first
    std::string suite = {};                         ///< of its newest night; empty: it had none
    std::vector<store::AcceptedLevel> levels = {};  ///< that nights judge it by, oldest first
};

/// Something to know about a trend besides its points.
struct TrendEvent {
    std::string at;    ///< ISO 8601
    std::string what;  ///< "change", "night", "level", "note"
    std::string says;
};
/// Newest first.
std::vector<TrendEvent> events_of(const TrendHistory& history);

/// `rows` as `assay history` takes them. Throws UserError where nothing matches.
std::vector<TrendHistory> read_history(const Registry& registry, store::Store& store,
                                       const std::string& rows);

}  // namespace assay::gui
