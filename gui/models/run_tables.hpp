// The tables of the view `run`: what a run would take, and how far those are that there are.
#pragma once

#include <QObject>

#include "gui/data/runs.hpp"
#include "gui/models/table_model.hpp"

namespace assay::gui {

using PlanModel = TableModel<PlannedSample>;  ///< number, variant, case, seed, time
using RunsModel = TableModel<Run>;            ///< state, done, left, started, command

PlanModel* make_plan_model(QObject* parent);
RunsModel* make_runs_model(QObject* parent);

}  // namespace assay::gui
