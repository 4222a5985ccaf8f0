#include "gui/models/run_tables.hpp"

#include <fmt/format.h>

#include "gui/models/words.hpp"
#include "suite/base/quantity_text.hpp"

namespace assay::gui {
namespace {

QString state_text(const Run& run) {
    if (run.runs) return QStringLiteral("▶ running");
    if (run.session.state == "finished") return QStringLiteral("✓ finished");
    return run.session.state == "running" ? QStringLiteral("✗ runner died")
                                          : QStringLiteral("■ ") + text(run.session.state);
}

QString command_text(const Run& run) {
    // The path of the program says nothing.
    const std::string& command = run.session.command;
    const std::size_t blank = command.find(' ');
    const std::size_t slash = command.rfind('/', blank);
    return text(slash == command.npos || blank == command.npos ? command
                                                               : command.substr(slash + 1));
}

}  // namespace

PlanModel* make_plan_model(QObject* parent) {
    return new PlanModel(
        {{"#", [](const PlannedSample& row) { return row.number; }, true},
         {"Experiment", [](const PlannedSample& row) { return text(row.experiment); }},
         {"Variant", [](const PlannedSample& row) { return text(row.variant); }},
         {"Case", [](const PlannedSample& row) { return text(row.axes); }},
         {"Seed", [](const PlannedSample& row) { return QVariant(qulonglong(row.seed)); }, true},
         {"Takes about", [](const PlannedSample& row) { return text(duration_text(row.seconds)); },
          true}},
        [](const PlannedSample& row) {
            return text(fmt::format("{} {} {}{}{}", row.experiment, row.variant, row.axes,
                                    row.scenario.empty() ? "" : "\nfaults: ", row.scenario));
        },
        parent);
}

RunsModel* make_runs_model(QObject* parent) {
    return new RunsModel(
        {{"State", [](const Run& row) { return state_text(row); }},
         {"Samples",
          [](const Run& row) {
              return QStringLiteral("%1 of %2").arg(row.done).arg(row.session.planned);
          },
          true, "those that ended, of those planned"},
         {"Left",
          [](const Run& row) {
              return row.left_s ? text("about " + duration_text(*row.left_s)) : QString();
          },
          true, "by the pace of its last twenty samples"},
         {"Started",
          [](const Run& row) { return text(row.session.started.substr(0, 16)).replace('T', ' '); },
          false, "UTC"},
         {"Session", [](const Run& row) { return text(row.session.id.substr(0, 8)); }},
         {"Command", [](const Run& row) { return command_text(row); }}},
        [](const Run& row) {
            return text(fmt::format("{}\n{}{}", row.session.id, row.session.command,
                                    row.process ? fmt::format("\nprocess {}", *row.process)
                                    : row.runs  ? "\nits process is not to be seen from here"
                                                : ""));
        },
        parent);
}

}  // namespace assay::gui
