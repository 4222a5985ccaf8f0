// A plot on the screen: as wide as there is room, with words under the pointer. One zooms and pans
// along its axes, by mouse and by keys, and measures between two marks.
#pragma once

#include <QImage>
#include <QWidget>
#include <memory>
#include <optional>
#include <vector>

#include "gui/plot/drawing.hpp"

class QRubberBand;

namespace assay::gui {

class PlotView : public QWidget {
    Q_OBJECT
  public:
    enum class Axis { x, y };

    explicit PlotView(QWidget* parent = nullptr);

    void set(std::shared_ptr<const report::Plot> plot) { set(Drawing{.whole = std::move(plot)}); }
    /// What is seen of the one before stays in view.
    void set(Drawing drawing);
    void set_theme(report::Theme theme);
    const report::Plot* plot() const { return plot_.get(); }

    const report::ViewWindow& window() const { return window_; }
    void set_window(const report::ViewWindow& window);  ///< says nothing

    // Where: at the pointer; where keys moved it to; else in the middle.
    void zoom(Axis axis, double factor);  ///< factor < 1: nearer
    void pan(Axis axis, double share);    ///< of what is seen, upwards along the axis
    void fit();
    void mark();  ///< the first of two, then the second, which measures
    void clear_marks();
    void point_at(double x);  ///< and brings it into the middle where not all is seen
    /// Where the pointer or keys are, as values; nothing: nowhere.
    std::optional<double> pointed_x() const;

    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;
    QSize sizeHint() const override;
    double scale() const;  ///< of the plot's pixels

  Q_SIGNALS:
    void window_changed(const report::ViewWindow& before);  ///< by mouse or keys
    void measured(const QString& words);                    ///< empty: nothing
    void picked(double x, double within);                   ///< by a click; within: a few pixels

  protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

  private:
    /// A place in one of the panels, in its values.
    struct Spot {
        std::size_t panel = 0;
        double x = 0, y = 0;
    };

    report::Point in_plot(QPointF at) const;
    std::optional<Spot> spot_at(report::Point at) const;  ///< of the panel that is nearest
    Spot spot() const;  ///< where zooming and marking happen; there is a panel
    bool can_zoom(Axis axis) const;
    report::Range home(Axis axis) const;  ///< all that there is
    /// Looks at these shares of what is seen of an axis.
    void look(Axis axis, std::size_t panel, double low, double high);
    void look(const report::ViewWindow& window);
    void zoom_to(const QRectF& rectangle);
    void redraw();
    void draw_cursors(QPainter& painter) const;
    void tell_measured();

    Drawing drawing_;
    std::shared_ptr<const report::Plot> plot_;  ///< what is seen
    report::ViewWindow window_;
    report::Theme theme_ = report::Theme::light;
    QImage painted_;  ///< empty: to be painted anew
    std::optional<Spot> spot_;
    bool spot_is_shown_ = false;  ///< keys have moved it, so that one must see where it is
    std::vector<Spot> marks_;     ///< two at most
    std::optional<QPointF> pressed_;
    bool drags_ = false;
    QRubberBand* band_;
};

}  // namespace assay::gui
