// Tables of the window look and behave alike.
#pragma once

#include <QString>

class QAbstractItemModel;
class QLabel;
class QTableView;

namespace assay::gui {

/// One row is chosen at a time; column `widest` takes what room there is.
QTableView* make_table(QAbstractItemModel* model, const QString& name, int widest);

/// A label of plain words that can be selected.
QLabel* make_words();

}  // namespace assay::gui
