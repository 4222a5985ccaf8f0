// A plot with a table beside it and words on the row that is chosen: what most views are made of.
#pragma once

#include <QWidget>
#include <functional>
#include <memory>

#include "gui/plot/plot_view.hpp"

class QAbstractItemModel;
class QLabel;
class QTableView;
class QVBoxLayout;

namespace assay::gui {

class PlotPane : public QWidget {
    Q_OBJECT
  public:
    struct Table {
        QAbstractItemModel* model = nullptr;
        QString name;                             ///< for those who cannot see it
        int widest = 0;                           ///< the column that takes the room
        std::function<QString(int row)> details;  ///< words below the table
    };
    explicit PlotPane(const Table& table, QWidget* parent = nullptr);

    /// The command is one that can be copied; it may be empty.
    void set_words(const QString& title, const QString& source, const QString& command);
    void set_plot(std::shared_ptr<const report::Plot> plot);
    void set_theme(report::Theme theme) { plot_->set_theme(theme); }
    const report::Plot* plot() const { return plot_->plot(); }
    int chosen_row() const;  ///< -1: none
    QTableView* table() const { return table_; }
    /// Below the words on the chosen row, in the order in which they come.
    void add_below(QWidget* widget);
    QString command() const;  ///< may be empty

  Q_SIGNALS:
    void chosen(int row);     ///< another row than before
    void activated(int row);  ///< by Enter or two clicks

  private:
    void show_details();

    std::function<QString(int)> details_of_;
    PlotView* plot_;
    QLabel *title_, *source_, *command_, *details_;
    QTableView* table_;
    QWidget* command_row_;
    QVBoxLayout* column_;
};

}  // namespace assay::gui
