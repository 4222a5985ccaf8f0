// Which sessions of a database a word names.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "suite/store/records.hpp"

namespace assay::store {
class Store;
}

namespace assay::compare {

struct Selection {
    std::vector<store::Session> sessions;  ///< oldest first; never empty
    std::string says;                      ///< "session 1a2b3c4d of 2026-11-21 02:03"
};

/// latest, latest~N, baseline:NAME, commit:PREFIX, machine:PREFIX, since:TIME, between:FROM..TO, or
/// a session by id or prefix. A TIME is a beginning of an ISO 8601 text ("2026-11", "2026-11-21",
/// "2026-11-21T02:03") or, with since:, a span back from `now`: 12h, 7d, 2w (at most 50 years). TO
/// is included as far as it is written. latest is what was recorded last. Sessions that still run,
/// and what a night ran again, count only when named by their id. UserError: nothing matches, or a
/// prefix stands for several commits or machines; the text lists what there is.
Selection select_sessions(const store::Store&, const std::string& selector,
                          std::chrono::system_clock::time_point now);

/// In the order of Store::sessions(), without what nights ran again (store::rerun_mark).
std::vector<store::Session> newest_first(const store::Store&);

/// Whether it begins as baseline:NAME, commit:PREFIX and so on do, so that it names no file.
bool has_selector_kind(const std::string& typed);

/// "session 1a2b3c4d of 2026-11-21 02:03", where so "…, imported from old.csv"; or how many and
/// from when to when.
std::string says_of(const std::vector<store::Session>& oldest_first);

}  // namespace assay::compare
