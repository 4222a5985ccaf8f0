// What views show, as JSON: taken from the models that the views have, so that a script sees what a
// person sees.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gui/models/claims_model.hpp"
#include "gui/models/overview_model.hpp"

namespace assay::gui {

/// What every view's dump has.
struct DumpHead {
    std::string view, database;
    int schema = 0;                    ///< of the database
    std::vector<std::string> notices;  ///< sentences
};

nlohmann::json dump(const DumpHead& head, const OverviewModel& model);
/// Numbers that are not finite are null.
nlohmann::json dump(const DumpHead& head, const report::FigureData& data,
                    const ClaimsModel& claims);

}  // namespace assay::gui
