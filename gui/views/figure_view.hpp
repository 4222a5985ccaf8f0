// One figure: what did the paper print, what did we get, how, and by which command?
#pragma once

#include <QWidget>

#include "gui/models/claims_model.hpp"
#include "gui/plot/plot_view.hpp"

class QLabel;
class QTableView;

namespace assay::gui {

class FigureView : public QWidget {
    Q_OBJECT
  public:
    explicit FigureView(QWidget* parent = nullptr);

    void set(FigureContent figure);
    void set_theme(report::Theme theme) { plot_->set_theme(theme); }
    const ClaimsModel& claims() const { return *claims_; }
    const PlotView& plot() const { return *plot_; }

  private:
    void show_reason();

    ClaimsModel* claims_;  // a child, which outlives the view of it
    PlotView* plot_;
    QLabel *title_, *source_, *command_, *reason_;
    QTableView* table_;
};

}  // namespace assay::gui
