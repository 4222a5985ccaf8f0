#include "gui/plot/plot_view.hpp"

#include <fmt/format.h>

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPaintEngine>
#include <QPainter>
#include <QRubberBand>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "gui/models/words.hpp"
#include "gui/plot/painter.hpp"
#include "suite/report/text/text_table.hpp"

namespace assay::gui {
namespace {

using report::Point;
using report::Range;
using report::ViewWindow;

constexpr double largest_scale = 1.6;  // beyond, lines grow and nothing more is seen
constexpr double nearest = 1e-7;       // of an axis: beyond, numbers do not tell its ends apart
constexpr double wheel_step = 120, nearer_by_a_step = 0.8;
constexpr double least_drag = 5, click_reach = 8;  // pixels

const report::AxisScale& scale_of(const report::PlotFrame& frame, PlotView::Axis axis) {
    return axis == PlotView::Axis::x ? frame.x : frame.y;
}

}  // namespace

PlotView::PlotView(QWidget* parent)
    : QWidget(parent), band_(new QRubberBand(QRubberBand::Rectangle, this)) {
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    setMinimumWidth(320);
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
}

void PlotView::set(Drawing drawing) {
    drawing_ = std::move(drawing);
    if (!drawing_.whole) {
        window_ = {};
        spot_.reset();
        marks_.clear();
    }
    setAccessibleName(drawing_.whole ? text(drawing_.whole->title()) : QString());
    setAccessibleDescription(drawing_.whole ? text(drawing_.whole->description()) : QString());
    redraw();
    if (plot_)
        std::erase_if(marks_,
                      [&](const Spot& mark) { return mark.panel >= plot_->panels().size(); });
    if (spot_ && plot_ && spot_->panel >= plot_->panels().size()) spot_.reset();
    tell_measured();
}

void PlotView::set_theme(report::Theme theme) {
    theme_ = theme;
    painted_ = {};
    update();
}

void PlotView::set_window(const ViewWindow& window) {
    if (window == window_) return;
    window_ = window;
    redraw();
}

void PlotView::redraw() {
    const double before = plot_ ? plot_->height() : 0;
    plot_ = drawing_.whole;
    if (plot_ && drawing_.part && !window_.whole())
        plot_ = std::make_shared<const report::Plot>(drawing_.part(window_));
    if (plot_ && plot_->panels().size() != drawing_.whole->panels().size()) plot_ = drawing_.whole;
    painted_ = {};
    if (!plot_ || plot_->height() != before) updateGeometry();
    update();
}

// ---- places -------------------------------------------------------------------------------------

double PlotView::scale() const {
    return plot_ ? std::min(width() / plot_->width(), largest_scale) : 1;
}

int PlotView::heightForWidth(int width) const {
    if (!plot_) return 0;
    return static_cast<int>(
        std::ceil(plot_->height() * std::min(width / plot_->width(), largest_scale)));
}

QSize PlotView::sizeHint() const {
    if (!plot_) return {};
    return {static_cast<int>(plot_->width()), static_cast<int>(std::ceil(plot_->height()))};
}

Point PlotView::in_plot(QPointF at) const { return {at.x() / scale(), at.y() / scale()}; }

std::optional<PlotView::Spot> PlotView::spot_at(Point at) const {
    std::optional<Spot> found;
    double least = INFINITY;
    for (std::size_t i = 0; plot_ && i < plot_->panels().size(); ++i) {
        const report::PlotFrame& frame = plot_->panels()[i];
        const Point inside{std::clamp(at.x, frame.area.left, frame.area.right()),
                           std::clamp(at.y, frame.area.top, frame.area.bottom())};
        const double distance = std::hypot(at.x - inside.x, at.y - inside.y);
        if (distance >= least) continue;
        least = distance;
        found = Spot{i, frame.x_at(inside.x), frame.y_at(inside.y)};
    }
    return found;
}

PlotView::Spot PlotView::spot() const {
    if (spot_) return *spot_;
    const report::PlotFrame& first = plot_->panels().front();
    return {0, first.x.value_at(0.5), first.y.value_at(0.5)};
}

std::optional<double> PlotView::pointed_x() const {
    return spot_ ? std::optional(spot_->x) : std::nullopt;
}

bool PlotView::can_zoom(Axis axis) const {
    return plot_ && drawing_.part && !plot_->panels().empty() &&
           (axis == Axis::x || drawing_.zooms_y);
}

// Panels of one figure may end at different times.
Range PlotView::home(Axis axis) const {
    Range all{INFINITY, -INFINITY};
    for (const report::PlotFrame& frame : drawing_.whole->panels()) {
        if (axis == Axis::y && frame.y.ticks().empty()) continue;
        all.low = std::min(all.low, scale_of(frame, axis).low());
        all.high = std::max(all.high, scale_of(frame, axis).high());
    }
    return all;
}

// ---- what is seen -------------------------------------------------------------------------------

void PlotView::look(const ViewWindow& window) {
    if (window == window_) return;
    const ViewWindow before = window_;
    set_window(window);
    Q_EMIT window_changed(before);
}

void PlotView::look(Axis axis, std::size_t panel, double low, double high) {
    const report::AxisScale& scale = scale_of(plot_->panels()[panel], axis);
    const Range all = home(axis);
    Range seen{std::max(scale.value_at(low), all.low), std::min(scale.value_at(high), all.high)};
    if (!(seen.span() > all.span() * nearest)) return;
    ViewWindow window = window_;
    const bool whole = seen.span() > all.span() * (1 - 1e-9);
    (axis == Axis::x ? window.x : window.y) = whole ? std::nullopt : std::optional(seen);
    look(window);
}

void PlotView::zoom(Axis axis, double factor) {
    if (!can_zoom(axis)) return;
    const Spot where = spot();
    const report::PlotFrame& frame = plot_->panels()[where.panel];
    const double at =
        std::clamp(scale_of(frame, axis).position(axis == Axis::x ? where.x : where.y), 0.0, 1.0);
    look(axis, where.panel, at - at * factor, at + (1 - at) * factor);
}

void PlotView::pan(Axis axis, double share) {
    if (!can_zoom(axis)) return;
    const std::size_t panel = spot().panel;
    const report::AxisScale& scale = scale_of(plot_->panels()[panel], axis);
    const Range all = home(axis);
    const double least = scale.position(all.low), most = scale.position(all.high) - 1;
    if (!(least < most)) return;
    share = std::clamp(share, least, most);
    look(axis, panel, share, 1 + share);
}

void PlotView::fit() { look(ViewWindow{}); }

void PlotView::point_at(double x) {
    if (!plot_ || plot_->panels().empty()) return;
    spot_ = Spot{spot_ ? spot_->panel : 0, x, spot_ ? spot_->y : 0};
    spot_is_shown_ = true;
    if (window_.x && can_zoom(Axis::x)) {
        const report::AxisScale& scale = plot_->panels()[spot_->panel].x;
        pan(Axis::x, scale.position(x) - 0.5);
    }
    update();
}

void PlotView::zoom_to(const QRectF& rectangle) {
    const auto spot = spot_at(in_plot(*pressed_));
    if (!spot || !can_zoom(Axis::x)) return;
    const report::PlotFrame& frame = plot_->panels()[spot->panel];
    const Point from = in_plot(rectangle.topLeft()), to = in_plot(rectangle.bottomRight());
    const auto within = [](double a, double b, const Range& all) {
        return Range{std::clamp(std::min(a, b), all.low, all.high),
                     std::clamp(std::max(a, b), all.low, all.high)};
    };
    ViewWindow window = window_;
    const Range x{frame.x.low(), frame.x.high()}, y{frame.y.low(), frame.y.high()};
    const Range new_x = within(frame.x_at(from.x), frame.x_at(to.x), x);
    if (new_x.span() > home(Axis::x).span() * nearest) window.x = new_x;
    if (drawing_.zooms_y && rectangle.height() > least_drag * 2) {
        const Range new_y = within(frame.y_at(from.y), frame.y_at(to.y), y);
        if (new_y.span() > home(Axis::y).span() * nearest) window.y = new_y;
    }
    look(window);
}

// ---- measuring ----------------------------------------------------------------------------------

void PlotView::mark() {
    if (!plot_ || plot_->panels().empty()) return;
    if (marks_.size() == 2) marks_.clear();
    marks_.push_back(spot());
    tell_measured();
    update();
}

void PlotView::clear_marks() {
    marks_.clear();
    tell_measured();
    update();
}

void PlotView::tell_measured() {
    if (marks_.empty() || !plot_) {
        Q_EMIT measured({});
        return;
    }
    const std::string unit = drawing_.x_unit.empty() ? "" : " " + drawing_.x_unit;
    const auto& [first, second] = std::pair(marks_.front(), marks_.back());
    if (marks_.size() == 1) {
        Q_EMIT measured(
            text(fmt::format("mark 1 at {:.6g}{}; M sets the second, Esc clears", first.x, unit)));
        return;
    }
    std::string words = fmt::format("Δ {:.6g}{} from {:.6g} to {:.6g}", second.x - first.x, unit,
                                    first.x, second.x);
    if (drawing_.zooms_y && first.panel == second.panel &&
        !plot_->panels()[first.panel].y.ticks().empty())
        words += fmt::format("; Δ value {} from {} to {}", report::number(second.y - first.y),
                             report::number(first.y), report::number(second.y));
    if (drawing_.between)
        if (const std::string said =
                drawing_.between({std::min(first.x, second.x), std::max(first.x, second.x)});
            !said.empty())
            words += "\n" + said;
    Q_EMIT measured(text(words));
}

// ---- painting -----------------------------------------------------------------------------------

void PlotView::draw_cursors(QPainter& painter) const {
    const auto line = [&](double x, Qt::PenStyle style, const QString& name) {
        painter.setPen(QPen(colour({report::Ink::text}, theme_), 1, style));
        for (const report::PlotFrame& frame : plot_->panels()) {
            if (x < frame.x.low() || x > frame.x.high()) continue;
            const double px = frame.px(x);
            painter.drawLine(QPointF(px, frame.area.top), QPointF(px, frame.area.bottom()));
            if (!name.isEmpty()) painter.drawText(QPointF(px + 3, frame.area.top + 10), name);
        }
    };
    QFont small(font());
    small.setPixelSize(11);
    painter.setFont(small);
    if (spot_ && spot_is_shown_) line(spot_->x, Qt::SolidLine, {});
    for (std::size_t i = 0; i < marks_.size(); ++i)
        line(marks_[i].x, Qt::DashLine, QString::number(i + 1));
}

// Painted once, so that moving a cursor costs a copy.
void PlotView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    if (!plot_) return;
    const double ratio = painter.paintEngine()->paintDevice()->devicePixelRatioF();
    const QSizeF size(plot_->width() * scale(), plot_->height() * scale());
    const QSize pixels = (size * ratio).toSize();
    if (pixels.isEmpty()) return;
    if (painted_.size() != pixels || painted_.devicePixelRatioF() != ratio) {
        painted_ = QImage(pixels, QImage::Format_RGB32);
        painted_.setDevicePixelRatio(ratio);
        painted_.fill(colour({report::Ink::background}, theme_));
        QPainter on_image(&painted_);
        on_image.scale(scale(), scale());
        paint(on_image, *plot_, theme_);
    }
    painter.drawImage(QPointF(0, 0), painted_);
    if (hasFocus()) {
        painter.setPen(palette().color(QPalette::Highlight));
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
    painter.scale(scale(), scale());
    draw_cursors(painter);
}

bool PlotView::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip || !plot_) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const QString words = tooltip_at(*plot_, QPointF(help->pos()) / scale());
    if (words.isEmpty())
        QToolTip::hideText();
    else
        QToolTip::showText(help->globalPos(), words, this);
    return true;
}

void PlotView::focusInEvent(QFocusEvent* event) {
    QWidget::focusInEvent(event);
    update();
}
void PlotView::focusOutEvent(QFocusEvent* event) {
    QWidget::focusOutEvent(event);
    update();
}

// ---- mouse and keys -----------------------------------------------------------------------------

// Arrows move the cursor: what the pointer does, without one.
void PlotView::keyPressEvent(QKeyEvent* event) {
    const int key = event->key();
    const bool across = key == Qt::Key_Left || key == Qt::Key_Right;
    if (!plot_ || plot_->panels().empty() ||
        !(across || key == Qt::Key_Up || key == Qt::Key_Down)) {
        QWidget::keyPressEvent(event);
        return;
    }
    Spot now = spot();
    if (across) {
        const double step = event->modifiers() & Qt::ShiftModifier ? 0.1 : 0.01;
        const report::AxisScale& x = plot_->panels()[now.panel].x;
        now.x = x.value_at(
            std::clamp(x.position(now.x) + (key == Qt::Key_Left ? -step : step), 0.0, 1.0));
    } else {
        const std::size_t last = plot_->panels().size() - 1;
        now.panel = key == Qt::Key_Down ? std::min(now.panel + 1, last)
                                        : now.panel - std::min<std::size_t>(now.panel, 1);
        const report::PlotFrame& frame = plot_->panels()[now.panel];
        now.x = std::clamp(now.x, frame.x.low(), frame.x.high());
        now.y = frame.y.value_at(0.5);
    }
    spot_ = now;
    spot_is_shown_ = true;
    update();
}

// Beside the panels the wheel scrolls the page, as anywhere.
void PlotView::wheelEvent(QWheelEvent* event) {
    const Point at = in_plot(event->position());
    const bool inside =
        plot_ && std::any_of(plot_->panels().begin(), plot_->panels().end(),
                             [&](const auto& frame) { return frame.area.contains(at); });
    const QPoint turned = event->angleDelta();
    if (!inside || !can_zoom(Axis::x) || turned.isNull()) {
        event->ignore();
        return;
    }
    spot_ = spot_at(at);
    if (turned.x() != 0 || event->modifiers() & Qt::ShiftModifier)
        pan(Axis::x, -0.1 * (turned.x() != 0 ? turned.x() : turned.y()) / wheel_step);
    else
        zoom(Axis::x, std::pow(nearer_by_a_step, turned.y() / wheel_step));
    event->accept();
}

void PlotView::mousePressEvent(QMouseEvent* event) {
    setFocus(Qt::MouseFocusReason);
    pressed_ = event->position();
    drags_ = event->button() == Qt::MiddleButton || event->modifiers() & Qt::ShiftModifier;
}

void PlotView::mouseMoveEvent(QMouseEvent* event) {
    if (event->buttons() == Qt::NoButton || !pressed_) {
        spot_ = spot_at(in_plot(event->position()));
        if (std::exchange(spot_is_shown_, false)) update();
        return;
    }
    if (!can_zoom(Axis::x)) return;
    if (drags_) {
        const double moved = event->position().x() - pressed_->x();
        const auto spot = spot_at(in_plot(*pressed_));
        const double width = plot_->panels()[spot->panel].area.width * scale();
        if (std::abs(moved) < 1) return;
        pan(Axis::x, -moved / width);
        pressed_ = event->position();
        return;
    }
    QRectF dragged = QRectF(*pressed_, event->position()).normalized();
    if (!drawing_.zooms_y) {
        dragged.setTop(0);
        dragged.setBottom(height());
    }
    if (dragged.width() > least_drag) band_->setGeometry(dragged.toRect());
    band_->setVisible(dragged.width() > least_drag);
}

void PlotView::mouseReleaseEvent(QMouseEvent* event) {
    if (!pressed_) return;
    const QRectF dragged = QRectF(*pressed_, event->position()).normalized();
    band_->hide();
    if (!drags_ && dragged.width() > least_drag) {
        zoom_to(dragged);
    } else if (!drags_ && plot_) {
        spot_ = spot_at(in_plot(event->position()));
        if (spot_) {
            const report::PlotFrame& frame = plot_->panels()[spot_->panel];
            const double reach = frame.x_at(frame.px(spot_->x) + click_reach) - spot_->x;
            Q_EMIT picked(spot_->x, reach);
        }
    }
    pressed_.reset();
    drags_ = false;
}

}  // namespace assay::gui
