#include "gui/plot/plot_view.hpp"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "gui/plot/painter.hpp"

namespace assay::gui {
namespace {

constexpr double largest_scale = 1.6;  // beyond, lines grow and nothing more is seen

}  // namespace

PlotView::PlotView(QWidget* parent) : QWidget(parent) {
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    setMinimumWidth(320);
    setFocusPolicy(Qt::StrongFocus);
}

void PlotView::set(std::shared_ptr<const report::Plot> plot) {
    plot_ = std::move(plot);
    setAccessibleName(plot_ ? QString::fromStdString(plot_->title()) : QString());
    setAccessibleDescription(plot_ ? QString::fromStdString(plot_->description()) : QString());
    updateGeometry();
    update();
}

void PlotView::set_theme(report::Theme theme) {
    theme_ = theme;
    update();
}

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

void PlotView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    if (!plot_) return;
    painter.scale(scale(), scale());
    paint(painter, *plot_, theme_);
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

}  // namespace assay::gui
