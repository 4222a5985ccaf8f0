// The window paints what the report's SVG has, in the same places.
#include "gui/plot/painter.hpp"

#include <gtest/gtest.h>

#include <QImage>
#include <cmath>
#include <set>

#include "gui/plot/plot_view.hpp"
#include "gui/plot/ratio_plot.hpp"
#include "suite/report/figures/experiment_plot.hpp"
#include "suite/report/figures/svg_writer.hpp"
#include "suite/report/markup.hpp"
#include "tests/report/fixtures.hpp"

namespace assay::gui {
namespace {

using namespace report;

QImage painted(const Plot& plot, Theme theme, double scale = 1) {
    QImage picture(QSizeF(plot.width() * scale, plot.height() * scale).toSize(),
                   QImage::Format_RGB32);
    QPainter painter(&picture);
    painter.scale(scale, scale);
    paint(painter, plot, theme);
    return picture;
}

QColor ink(Paint paint, Theme theme) {
    const std::string_view name = colour_of(paint, theme);
    return QColor(QString::fromLatin1(name.data(), qsizetype(name.size())));
}

bool near(QColor a, QColor b) {
    return std::abs(a.red() - b.red()) + std::abs(a.green() - b.green()) +
               std::abs(a.blue() - b.blue()) <
           24;
}

std::vector<Plot> every_kind() {
    const std::vector<store::Sample> live{live_sample()};
    return {experiment_plot(recovery_experiment(), recovery_samples(), recovery_claims()),
            experiment_plot(plans_experiment(), plans_samples(), {}),
            experiment_plot(live_experiment(), live, {}, training_kinds()),
            experiment_plot(rivals_experiment(), rivals_samples(), {}, training_kinds())};
}

// The topmost mark that nothing later covers has its colour in its middle; so has a bar.
TEST(Painter, MarksAndBarsAreWhereThePlotSays) {
    for (const Theme theme : {Theme::light, Theme::dark})
        for (const Plot& plot : every_kind()) {
            const QImage picture = painted(plot, theme, 2);
            long looked_at = 0, right = 0;
            for (const Shape& shape : plot.shapes()) {
                if (const auto* mark = std::get_if<Mark>(&shape)) {
                    const Paint paint =
                        mark->hollow ? Paint{Ink::background} : Paint{Ink::variant, mark->slot};
                    ++looked_at;
                    right +=
                        near(picture.pixelColor((2 * QPointF(mark->at.x, mark->at.y)).toPoint()),
                             ink(paint, theme));
                } else if (const auto* bar = std::get_if<Rectangle>(&shape);
                           bar && bar->width > 4 && bar->height > 4 && bar->opacity == 1) {
                    const QPointF middle(bar->corner.x + bar->width / 2,
                                         bar->corner.y + bar->height * 0.3);
                    ++looked_at;
                    right +=
                        near(picture.pixelColor((2 * middle).toPoint()), ink(bar->fill, theme));
                }
            }
            ASSERT_GT(looked_at, 0) << plot.title();
            // Marks of one point lie on each other, lines cross bars.
            EXPECT_GT(double(right) / double(looked_at), 0.6) << plot.title();
        }
}

// One drawing, two painters: every word and every tooltip of the plot is in the SVG, as often.
TEST(Painter, TheSvgIsOfTheSamePlot) {
    for (const Plot& plot : every_kind()) {
        const std::string svg = to_svg(plot);
        const auto count = [&](const std::string& tag) {
            long n = 0;
            for (std::size_t at = svg.find(tag); at != std::string::npos;
                 at = svg.find(tag, at + 1))
                ++n;
            return n;
        };
        long words = 0, marks = 0, lines = 0;
        const auto has = [&](const std::string& text, const char* open, const char* close) {
            return svg.find(open + escaped(text) + close) != std::string::npos;
        };
        for (const Shape& shape : plot.shapes()) {
            if (const auto* text = std::get_if<Words>(&shape)) {
                EXPECT_TRUE(has(text->text, ">", "</text>")) << text->text;
            }
            if (const auto* mark = std::get_if<Mark>(&shape); mark && !mark->tooltip.empty()) {
                EXPECT_TRUE(has(mark->tooltip, "<title>", "</title>")) << mark->tooltip;
            }
            words += std::holds_alternative<Words>(shape);
            marks += std::holds_alternative<Mark>(shape);
            lines += std::holds_alternative<Polyline>(shape);
        }
        EXPECT_EQ(count("<text "), words);
        EXPECT_EQ(count("<circle ") + count("<polygon "), marks);
        EXPECT_EQ(count("<line ") + count("<polyline "), lines);
    }
}

TEST(Painter, ThePictureIsTheSameEachTime) {
    const Plot plot = experiment_plot(recovery_experiment(), recovery_samples(), recovery_claims());
    EXPECT_EQ(painted(plot, Theme::dark), painted(plot, Theme::dark));
}

TEST(Painter, TooltipsAreThoseOfTheTopmostMark) {
    const Plot plot = experiment_plot(plans_experiment(), plans_samples(), {});
    for (const Shape& shape : plot.shapes())
        if (const auto* bar = std::get_if<Rectangle>(&shape); bar && !bar->tooltip.empty()) {
            const QPointF middle(bar->corner.x + bar->width / 2, bar->corner.y + bar->height / 2);
            EXPECT_EQ(tooltip_at(plot, middle).toStdString(), bar->tooltip);
        }
    EXPECT_EQ(tooltip_at(plot, {1, 1}), QString());
}

TEST(PlotView, SaysInWordsWhatItShowsAndKeepsItsShape) {
    PlotView view;
    EXPECT_EQ(view.heightForWidth(400), 0);
    view.set(
        std::make_shared<const Plot>(experiment_plot(plans_experiment(), plans_samples(), {})));
    EXPECT_EQ(view.accessibleName().toStdString(), view.plot()->title());
    EXPECT_FALSE(view.accessibleDescription().isEmpty());
    EXPECT_EQ(view.heightForWidth(400), std::ceil(view.plot()->height() / 2));
}

// Rows of one figure begin alike: their names must not be cut where they differ.
TEST(RatioPlot, NamesOfRowsStayApart) {
    std::vector<compare::Row> rows(2);
    for (compare::Row& row : rows) {
        row.id.variant = std::string(80, 'm');
        row.ratio = row.low = row.high = 1;
    }
    rows[0].id.variant += "=0.25·µs";
    rows[1].id.variant += "=0.5·µs";
    std::set<std::string> names;
    const Plot plot = ratio_plot({}, {}, rows);
    for (const Shape& shape : plot.shapes())
        if (const auto* words = std::get_if<Words>(&shape); words && words->text.starts_with('m'))
            names.insert(words->text);
    ASSERT_EQ(names.size(), 2u);
    for (const std::string& name : names) {
        EXPECT_TRUE(name.ends_with("5·µs")) << name;
        EXPECT_NE(name.find("m…m"), std::string::npos) << name;
        EXPECT_LE(text_width(name, 10.5), 330);
    }
}

}  // namespace
}  // namespace assay::gui
