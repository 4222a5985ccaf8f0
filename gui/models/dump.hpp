// What views show, as JSON: taken from the models that the views have, so that a script sees what a
// person sees.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gui/models/overview_model.hpp"
#include "gui/models/tables.hpp"

namespace assay::gui {

/// What every view's dump has.
struct DumpHead {
    std::string view, database;
    int schema = 0;                    ///< of databases that this program reads
    std::vector<std::string> notices;  ///< sentences
};

nlohmann::json dump(const DumpHead& head, const OverviewModel& model);
/// Numbers that are not finite are null.
nlohmann::json dump(const DumpHead& head, const report::FigureData& data,
                    const ClaimsModel& claims);
nlohmann::json dump(const DumpHead& head, const Comparison& comparison, const RowsModel& rows);
nlohmann::json dump(const DumpHead& head, const Timeline& timeline, const MarksModel& marks);
nlohmann::json dump(const DumpHead& head, const TrendsModel& trends);

}  // namespace assay::gui
