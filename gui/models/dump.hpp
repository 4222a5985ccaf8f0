// What views show, as JSON: taken from the models that the views have, so that a script sees what a
// person sees.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gui/models/machine_tables.hpp"
#include "gui/models/overview_model.hpp"
#include "gui/models/run_tables.hpp"
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
/// {"session","before","elsewhere","started","state","command","facts":[{"name","value","before",
/// "elsewhere","differs":["before","elsewhere"]}],"hardware":[{"device","readings","throttled",
/// "reasons":{reason:n},"clock_hz":{"low","high"}|null,"memory_clock_hz","temperature_c",
/// "power_w"}],"fit":[as `assay doctor --json`]}; `findings` null: one session was asked for, "fit"
/// is null.
nlohmann::json dump(const DumpHead& head, const MachineContent& machine, const FactsModel& facts,
                    const FindingsModel* findings);
/// {"command":text|null,"plan":as `assay run … --dry-run --json`|null,"runs":[{"session","state",
/// "runs","started","command","planned","done","sample"|null,"process"|null,"left_s"|null}]}
nlohmann::json dump(const DumpHead& head, const RunsModel& runs, const QString& command,
                    const std::optional<RunPlan>& plan);

}  // namespace assay::gui
