// The session of a night: one that was interrupted goes on, else the plan is measured.
#pragma once

#include <string>
#include <vector>

#include "suite/gate/nightly.hpp"
#include "suite/store/nights.hpp"
#include "suite/store/records.hpp"

namespace assay::gate {

struct NightSession {
    store::NightRecord record;
    std::vector<store::Sample> samples;
    bool interrupted = false;  ///< the samples are not all there
    bool resumed = false;
    std::vector<std::string> warnings;
};

/// Goes on with a night of the same programs, plan and machine that was interrupted less than a day
/// ago, unless the request says otherwise; says why where there is one that it cannot go on with.
/// Keeps this program beside the database; marks a session during which the programs changed
/// (store::mixed_mark).
NightSession measured_night(const Registry&, const NightPlan&, const NightRequest&, store::Store&,
                            const runner::Listener&);

}  // namespace assay::gate
