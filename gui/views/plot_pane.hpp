// A plot with a table beside it and words on the row that is chosen: what most views are made of.
#pragma once

#include <QWidget>
#include <functional>
#include <memory>
#include <optional>

#include "gui/models/row_filter.hpp"
#include "gui/plot/plot_view.hpp"
#include "gui/views/seen.hpp"

class QAbstractItemModel;
class QCheckBox;
class QLabel;
class QLineEdit;
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
        /// Where a row stands on the plot's x axis; null: nowhere.
        std::function<double(int row)> x = nullptr;
        QString only = {};                   ///< "Regressions only": a filter; empty: none
        RowFilter::Keeps matters = nullptr;  ///< which rows that filter leaves
    };
    explicit PlotPane(const Table& table, QWidget* parent = nullptr);

    /// The command is one that can be copied; it may be empty.
    void set_words(const QString& title, const QString& source, const QString& command);
    void set_plot(std::shared_ptr<const report::Plot> plot);
    void set_drawing(Drawing drawing) { plot_->set(std::move(drawing)); }
    void set_theme(report::Theme theme) { plot_->set_theme(theme); }
    const report::Plot* plot() const { return plot_->plot(); }
    PlotView* plot_view() const { return plot_; }
    int chosen_row() const;  ///< of the model; -1: none
    void choose_row(int row);
    QTableView* table() const { return table_; }
    /// Below the words on the chosen row, in the order in which they come.
    void add_below(QWidget* widget);
    QString command() const;  ///< may be empty

    Seen seen() const;
    void set_seen(const Seen& seen);  ///< says nothing

  Q_SIGNALS:
    void chosen(int row);     ///< another row than before
    void activated(int row);  ///< by Enter or two clicks
    void seen_changed(const Seen& before);

  private:
    void add_keys();
    void go_by(int rows);  ///< to the row that many below the chosen one
    void choose_nearest(double x, double within);
    void show_details();
    void filter();

    Table shown_;
    PlotView* plot_;
    QLabel *title_, *source_, *command_, *details_, *measured_;
    RowFilter* rows_;
    QLineEdit* filter_;
    QCheckBox* only_;
    QTableView* table_;
    QWidget* command_row_;
    QVBoxLayout* column_;
    Seen before_filter_;
    QString chosen_before_;  ///< what the row was called, while the model gets others
};

}  // namespace assay::gui
