// The tables beside and below the plots, each with its columns.
#pragma once

#include <QObject>

#include "gui/data/comparison.hpp"
#include "gui/data/figure.hpp"
#include "gui/data/history.hpp"
#include "gui/data/timeline.hpp"
#include "gui/models/table_model.hpp"

namespace assay::gui {

using ClaimsModel = TableModel<JudgedClaim>;   ///< verdict, paper's value, ours, what it says
using MarksModel = TableModel<TimelineMark>;   ///< time, event, rank, how long, detail
using TrendsModel = TableModel<TrendHistory>;  ///< row, sessions, newest, change points
using RowsModel = TableModel<ComparedRow>;     ///< row, ratio, interval, verdict
using SamplesModel = TableModel<ClaimSample>;  ///< behind a claim: id, variant, case, seed, value
using TrendEventsModel = TableModel<TrendEvent>;  ///< changes, nights, levels, notes

ClaimsModel* make_claims_model(QObject* parent);
MarksModel* make_marks_model(QObject* parent);
TrendsModel* make_trends_model(QObject* parent);
RowsModel* make_rows_model(QObject* parent);
SamplesModel* make_samples_model(QObject* parent);
TrendEventsModel* make_trend_events_model(QObject* parent);

}  // namespace assay::gui
