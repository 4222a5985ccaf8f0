#include "gui/plot/painter.hpp"

#include <QFont>
#include <QFontMetricsF>
#include <QPen>
#include <QPolygonF>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "gui/models/words.hpp"

namespace assay::gui {
namespace {

using namespace report;

QPointF at(Point point) { return {point.x, point.y}; }

// Qt counts dashes in widths of the pen.
QPen pen(Paint paint, Theme theme, double width, std::string_view dash) {
    QPen pen(colour(paint, theme, true), width, Qt::SolidLine, Qt::FlatCap, Qt::RoundJoin);
    QVector<qreal> pattern;
    for (const char* p = dash.data(); p < dash.data() + dash.size();) {
        double length = 0;
        const auto [end, error] = std::from_chars(p, dash.data() + dash.size(), length);
        if (error != std::errc{}) break;
        pattern.push_back(length / width);
        p = end + 1;
    }
    if (!pattern.isEmpty()) pen.setDashPattern(pattern);
    return pen;
}

class Brushwork {
  public:
    Brushwork(QPainter& painter, Theme theme) : painter_(painter), theme_(theme) {}

    // A wide polyline takes Qt a hundred times as long as its segments one by one; their caps join
    // them, square ones, since round ones take four times as long again. Dashes must run on through
    // the corners, so those stay whole.
    void operator()(const Polyline& path) const {
        QPen with = pen(path.paint, theme_, path.width, path.dash);
        if (path.one_line || !path.dash.empty() || path.points.size() < 2) {
            painter_.setPen(with);
            QPolygonF points;
            for (const Point& point : path.points) points.push_back(at(point));
            painter_.drawPolyline(points);
            return;
        }
        with.setCapStyle(Qt::SquareCap);
        painter_.setPen(with);
        // Within a pixel's width there is no slope to smooth, which takes Qt four times as long:
        // long curves are such lines, a few a pixel (decimate.hpp).
        QVector<QLineF> upright, others;
        for (std::size_t i = 1; i < path.points.size(); ++i) {
            const QLineF line(at(path.points[i - 1]), at(path.points[i]));
            (std::abs(line.dx()) < 1 && std::abs(line.dy()) > 1 ? upright : others).push_back(line);
        }
        painter_.drawLines(others);
        painter_.setRenderHint(QPainter::Antialiasing, false);
        painter_.drawLines(upright);
        painter_.setRenderHint(QPainter::Antialiasing);
    }
    void operator()(const Rectangle& area) const {
        QColor fill = colour(area.fill, theme_);
        fill.setAlphaF(static_cast<float>(area.opacity));
        painter_.fillRect(QRectF(area.corner.x, area.corner.y, area.width, area.height), fill);
    }
    void operator()(const Outline& frame) const {
        painter_.setPen(pen(frame.stroke, theme_, 1, ""));
        painter_.setBrush(Qt::NoBrush);
        painter_.drawRoundedRect(QRectF(frame.corner.x, frame.corner.y, frame.width, frame.height),
                                 frame.radius, frame.radius);
    }
    // Sizes have half pixels, fonts have not.
    void operator()(const Words& words) const {
        QFont font(QStringLiteral("DejaVu Sans"));
        font.setPixelSize(static_cast<int>(std::lround(2 * words.style.size)));
        font.setHintingPreference(QFont::PreferNoHinting);
        if (words.style.bold) font.setWeight(QFont::DemiBold);
        const QString text = QString::fromStdString(words.text);
        double left = 0;
        if (words.style.anchor != TextStyle::Anchor::start) {
            left = -QFontMetricsF(font).horizontalAdvance(text);
            if (words.style.anchor == TextStyle::Anchor::middle) left /= 2;
        }
        painter_.save();
        painter_.setFont(font);
        painter_.setPen(colour({words.style.ink}, theme_));
        painter_.translate(at(words.at));
        painter_.rotate(words.style.rotate);
        painter_.scale(0.5, 0.5);
        painter_.drawText(QPointF(left, 0), text);
        painter_.restore();
    }
    void operator()(const Mark& mark) const {
        const QColor own = colour({Ink::variant, mark.slot}, theme_);
        painter_.setPen(mark.hollow ? QPen(own, 1.6) : QPen(Qt::NoPen));
        painter_.setBrush(mark.hollow ? colour({Ink::background}, theme_) : own);
        const std::vector<Point>& corners = mark_corners(mark.slot);
        if (corners.empty()) {
            painter_.drawEllipse(at(mark.at), mark.radius, mark.radius);
            return;
        }
        QPolygonF shape;
        for (const Point& corner : corners) shape.push_back(at(mark.at) + mark.radius * at(corner));
        painter_.drawPolygon(shape);
    }

  private:
    QPainter& painter_;
    Theme theme_;
};

constexpr double near_a_mark = 4;  // pixels beyond its edge

const std::string* words_there(const Shape& shape, QPointF at) {
    if (const auto* mark = std::get_if<Mark>(&shape)) {
        const double distance = std::hypot(at.x() - mark->at.x, at.y() - mark->at.y);
        return distance <= mark->radius + near_a_mark ? &mark->tooltip : nullptr;
    }
    if (const auto* area = std::get_if<Rectangle>(&shape))
        return QRectF(area->corner.x, area->corner.y, area->width, area->height).contains(at)
                   ? &area->tooltip
                   : nullptr;
    return nullptr;
}

}  // namespace

QColor colour(Paint paint, Theme theme, bool of_line) {
    return QColor(text(colour_of(paint, theme, of_line)));
}

void paint(QPainter& painter, const Plot& plot, Theme theme) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    // Whole pixels: half of one would show what was there before.
    painter.fillRect(QRectF(0, 0, plot.width(), plot.height()).toAlignedRect(),
                     colour({Ink::background}, theme));
    const Brushwork brushwork(painter, theme);
    for (const Shape& shape : plot.shapes()) std::visit(brushwork, shape);
    painter.restore();
}

QString tooltip_at(const Plot& plot, QPointF at) {
    const auto& shapes = plot.shapes();
    for (auto shape = shapes.rbegin(); shape != shapes.rend(); ++shape)
        if (const std::string* words = words_there(*shape, at); words && !words->empty())
            return QString::fromStdString(*words);
    return {};
}

}  // namespace assay::gui
