// The tables of the view `machine`: what the doctor finds, what sessions know, what was read.
#pragma once

#include <QObject>

#include "gui/data/fitness.hpp"
#include "gui/data/machine.hpp"
#include "gui/models/table_model.hpp"

namespace assay::gui {

using FindingsModel = TableModel<Finding>;   ///< level, check, what it says
using FactsModel = TableModel<MachineFact>;  ///< this session, before, elsewhere, differs
using DevicesModel = TableModel<store::DeviceReadings>;  ///< readings, clocks, heat, throttled, why

FindingsModel* make_findings_model(QObject* parent);
FactsModel* make_facts_model(QObject* parent);
DevicesModel* make_devices_model(QObject* parent);

}  // namespace assay::gui
