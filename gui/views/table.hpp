// Tables of the window look and behave alike.
#pragma once

#include <QString>
#include <functional>

class QAbstractItemModel;
class QAbstractItemView;
class QLabel;
class QTableView;

namespace assay::gui {

/// One row is chosen at a time; column `widest` takes what room there is.
QTableView* make_table(QAbstractItemModel* model, const QString& name, int widest);

/// What the chosen row is called; empty: none is chosen.
QString chosen_name(const QAbstractItemView& table);
/// Chooses the row that is called so, and says whether there is one.
bool choose_named(QTableView& table, const QString& name);

/// In the view's menu and by keys: copy the cell's value (Ctrl+C), what its row is called
/// (Ctrl+Shift+C).
void add_copying(QAbstractItemView* view);
/// The same for the command that belongs to the view (Ctrl+Alt+C).
void add_command_copying(QAbstractItemView* view, std::function<QString()> command);

/// A label of plain words that can be selected.
QLabel* make_words();

}  // namespace assay::gui
