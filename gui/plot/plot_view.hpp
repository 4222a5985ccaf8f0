// A plot on the screen: as wide as there is room, with words under the pointer.
#pragma once

#include <QWidget>
#include <memory>

#include "suite/report/figures/plot.hpp"

namespace assay::gui {

class PlotView : public QWidget {
    Q_OBJECT
  public:
    explicit PlotView(QWidget* parent = nullptr);

    void set(std::shared_ptr<const report::Plot> plot);
    void set_theme(report::Theme theme);
    const report::Plot* plot() const { return plot_.get(); }

    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;
    QSize sizeHint() const override;

  protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

  private:
    double scale() const;  ///< of the plot's pixels

    std::shared_ptr<const report::Plot> plot_;
    report::Theme theme_ = report::Theme::light;
};

}  // namespace assay::gui
