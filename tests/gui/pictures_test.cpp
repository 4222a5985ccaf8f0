// How the published set looks in the window: pictures of every view in both themes and at two
// scales, words that overlap nowhere and are whole, contrasts, and words for those who cannot see.
//   ASSAY_PICTURES=/tmp/pictures build/cpu/bin/gui_pictures_test keeps the pictures there.
#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QAccessible>
#include <QApplication>
#include <QFontMetricsF>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QPolygonF>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QStyleFactory>
#include <QTransform>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "gui/data/catalogue.hpp"
#include "gui/data/figure.hpp"
#include "gui/data/history.hpp"
#include "gui/data/timeline.hpp"
#include "gui/plot/painter.hpp"
#include "gui/views/main_window.hpp"
#include "gui/views/theme.hpp"
#include "suite/report/figures/svg_writer.hpp"
#include "suite/report/markup.hpp"

namespace assay::gui {
namespace {

using namespace report;

constexpr int patience_ms = 60'000;

struct Published {
    std::shared_ptr<const Registry> registry =
        std::make_shared<const Registry>(ask_catalogue(ASSAY_PROGRAM));
    store::Store store = store::Store::open(ASSAY_PUBLISHED, store::Access::read);
};

Published& published() {
    static Published set;
    return set;
}

/// The newest sample of each experiment that has events, and of others none.
std::vector<std::string> samples_with_events() {
    std::vector<std::string> ids;
    for (const Experiment* experiment : published().registry->select("all"))
        for (const auto& sample : published().store.newest_samples(experiment->id))
            if (!published().store.sample(sample.id).events.empty()) {
                ids.push_back(sample.id);
                break;
            }
    return ids;
}

std::vector<std::pair<std::string, Plot>> every_plot() {
    std::vector<std::pair<std::string, Plot>> plots;
    auto& [registry, store] = published();
    for (const Experiment* experiment : registry->select("all"))
        plots.emplace_back(experiment->id, read_figure(*registry, store, experiment->id).plot);
    for (const std::string& sample : samples_with_events()) {
        const Timeline timeline = read_timeline(*registry, store, sample, 1440);
        plots.emplace_back("timeline:" + sample, timeline.plot);
        const Range middle{timeline.end_s * 0.4, timeline.end_s * 0.6};
        plots.emplace_back("zoomed timeline:" + sample,
                           draw_timeline(*registry, timeline, 1440, {.x = middle}));
    }
    return plots;
}

// ---- words in plots -----------------------------------------------------------------------------

/// Where a text stands, a little smaller than it is, so that neighbours may touch.
QPolygonF place_of(const Words& words) {
    constexpr double touch = 0.8;
    QFont font(QStringLiteral("DejaVu Sans"));
    font.setPixelSize(100);
    if (words.style.bold) font.setWeight(QFont::DemiBold);
    const double size = words.style.size;
    const double width =
        QFontMetricsF(font).horizontalAdvance(QString::fromStdString(words.text)) * size / 100;
    double left = 0;
    if (words.style.anchor == TextStyle::Anchor::middle) left = -width / 2;
    if (words.style.anchor == TextStyle::Anchor::end) left = -width;
    const QRectF box(left + touch, -0.74 * size + touch, std::max(width - 2 * touch, 0.1),
                     0.94 * size - 2 * touch);
    return QTransform()
        .translate(words.at.x, words.at.y)
        .rotate(words.style.rotate)
        .map(QPolygonF(box));
}

TEST(Words, OverlapNowhereAndAreWhole) {
    for (const auto& [name, plot] : every_plot()) {
        std::vector<std::pair<const Words*, QPolygonF>> placed;
        for (const Shape& shape : plot.shapes())
            if (const auto* words = std::get_if<Words>(&shape); words && !words->text.empty())
                placed.emplace_back(words, place_of(*words));
        for (std::size_t i = 0; i < placed.size(); ++i) {
            const QRectF box = placed[i].second.boundingRect();
            EXPECT_TRUE(QRectF(0, 0, plot.width(), plot.height()).contains(box))
                << name << ": '" << placed[i].first->text << "' is cut by the edge";
            for (std::size_t j = 0; j < i; ++j)
                EXPECT_FALSE(box.intersects(placed[j].second.boundingRect()) &&
                             placed[i].second.intersects(placed[j].second))
                    << name << ": '" << placed[i].first->text << "' on '" << placed[j].first->text
                    << "'";
        }
    }
}

// ---- one plot, two painters ---------------------------------------------------------------------

QImage painted(const Plot& plot, Theme theme) {
    QImage picture(QSizeF(plot.width(), plot.height()).toSize(), QImage::Format_RGB32);
    QPainter painter(&picture);
    paint(painter, plot, theme);
    return picture;
}

TEST(Painters, HaveTheSameOfEachExperiment) {
    for (const auto& [name, plot] : every_plot()) {
        const std::string svg = to_svg(plot);
        std::map<std::string, long> drawn, wanted;
        for (const char* tag :
             {"<text ", "<line ", "<polyline ", "<circle ", "<polygon ", "<rect "})
            for (std::size_t at = svg.find(tag); at != std::string::npos;
                 at = svg.find(tag, at + 1))
                ++drawn[tag];
        wanted["<rect "] = 1;  // the page
        for (const Shape& shape : plot.shapes()) {
            if (const auto* words = std::get_if<Words>(&shape)) {
                ++wanted["<text "];
                EXPECT_NE(svg.find(">" + escaped(words->text) + "</text>"), std::string::npos);
            } else if (const auto* line = std::get_if<Polyline>(&shape)) {
                ++wanted[line->one_line ? "<line " : "<polyline "];
            } else if (const auto* mark = std::get_if<Mark>(&shape)) {
                ++wanted[mark_corners(mark->slot).empty() ? "<circle " : "<polygon "];
            } else {
                ++wanted["<rect "];
            }
        }
        EXPECT_EQ(drawn, wanted) << name;
        const QImage light = painted(plot, Theme::light), dark = painted(plot, Theme::dark);
        EXPECT_EQ(light, painted(plot, Theme::light)) << name;
        EXPECT_NE(light, dark) << name;
    }
}

// ---- the window ---------------------------------------------------------------------------------

void settle(MainWindow& window) {
    for (int rounds = 0; rounds < 5 && !window.settled(); ++rounds) {
        QSignalSpy settled(&window, &MainWindow::settled_now);
        settled.wait(patience_ms);
    }
    QApplication::processEvents();
}

std::vector<Location> every_view() {
    return {{View::overview, ""},
            {View::figure, "lazarus/fig8"},
            {View::figure, "hetermoe/fig7"},
            {View::compare, "latest~1,latest"},
            {View::timeline, samples_with_events().front()},
            {View::history, "lazarus/*"},
            {View::run, "lazarus/fig8"},
            {View::machine, "latest"}};
}

QByteArray picture_of(MainWindow& window, double scale) {
    QImage picture(window.size() * scale, QImage::Format_RGB32);
    picture.setDevicePixelRatio(scale);
    window.render(&picture);
    if (const char* folder = std::getenv("ASSAY_PICTURES")) {
        std::filesystem::create_directories(folder);
        const QString theme =
            window.palette().color(QPalette::Window).lightness() < 128 ? "dark" : "light";
        picture.save(QString("%1/%2-%3-%4.png")
                         .arg(folder)
                         .arg(QString::fromStdString(to_string(window.location()))
                                  .replace(QRegularExpression("[^A-Za-z0-9]+"), "_"))
                         .arg(theme)
                         .arg(scale));
    }
    return {reinterpret_cast<const char*>(picture.constBits()), picture.sizeInBytes()};
}

TEST(Pictures, OfEveryViewInBothThemesAtTwoScales) {
    MainWindow window(published().registry, ASSAY_PUBLISHED);
    window.resize(1440, 900);
    window.show();
    std::set<QByteArray> different;
    std::size_t made = 0;
    for (const Location& place : every_view()) {
        window.go(place);
        settle(window);
        EXPECT_EQ(window.notice(), "") << to_string(place);
        for (const Theme theme : {Theme::light, Theme::dark})
            for (const double scale : {1.0, 2.0}) {
                window.set_theme(theme);
                QApplication::processEvents();
                const QByteArray picture = picture_of(window, scale);
                EXPECT_EQ(picture, picture_of(window, scale)) << to_string(place);
                different.insert(picture);
                ++made;
            }
    }
    EXPECT_EQ(different.size(), made) << "two of them look alike";
}

// As it is painted: '&' only marks the letter of a key.
int painted_width(const QWidget& widget, QString words) {
    return widget.fontMetrics().horizontalAdvance(words.remove(QLatin1Char('&')));
}

// What is too long for its place is shortened by Qt without a word.
void expect_whole_words(const MainWindow& window, const std::string& where) {
    for (const auto* label : window.findChildren<QLabel*>()) {
        if (!label->isVisible() || label->wordWrap() || label->text().isEmpty()) continue;
        EXPECT_LE(painted_width(*label, label->text()), label->width() + 1)
            << where << ": " << label->text().toStdString();
    }
    for (const auto* button : window.findChildren<QAbstractButton*>())
        if (button->isVisible() && !button->text().isEmpty()) {
            EXPECT_LE(painted_width(*button, button->text()), button->width())
                << where << ": " << button->text().toStdString();
        }
    for (const auto* line : window.findChildren<QLineEdit*>())
        if (line->isVisible()) {
            EXPECT_LE(line->fontMetrics().horizontalAdvance(line->placeholderText()),
                      line->width() - 8)
                << where << ": " << line->placeholderText().toStdString();
        }
    for (const auto* header : window.findChildren<QHeaderView*>()) {
        if (!header->isVisible() || header->orientation() != Qt::Horizontal) continue;
        for (int i = 0; i < header->count(); ++i) {
            if (header->isSectionHidden(i)) continue;
            const QString head = header->model()->headerData(i, Qt::Horizontal).toString();
            EXPECT_LE(header->fontMetrics().horizontalAdvance(head), header->sectionSize(i))
                << where << ": " << head.toStdString();
        }
    }
}

TEST(Window, WordsAreWhole) {
    MainWindow window(published().registry, ASSAY_PUBLISHED);
    window.show();
    for (const QSize size : {QSize(1440, 900), QSize(1280, 800)}) {
        window.resize(size);
        for (const Location& place : every_view()) {
            window.go(place);
            settle(window);
            expect_whole_words(window, to_string(place));
        }
    }
}

// Whoever cannot see it hears what each part is, and each picture in words.
TEST(Window, EveryPartHasANameAndEveryPictureWords) {
    MainWindow window(published().registry, ASSAY_PUBLISHED);
    window.show();
    for (const Location& place : every_view()) {
        window.go(place);
        settle(window);
        for (QWidget* part : window.findChildren<QWidget*>()) {
            if (!part->isVisible() || part->focusPolicy() == Qt::NoFocus ||
                part->objectName().startsWith("qt_"))
                continue;
            QAccessibleInterface* face = QAccessible::queryAccessibleInterface(part);
            EXPECT_TRUE(face && !face->text(QAccessible::Name).isEmpty())
                << to_string(place) << ": " << part->metaObject()->className();
            if (auto* plot = qobject_cast<PlotView*>(part); plot && plot->plot()) {
                EXPECT_FALSE(plot->accessibleDescription().isEmpty()) << to_string(place);
            }
        }
    }
}

double contrast(const QColor& a, const QColor& b) {
    const auto luminance = [](const QColor& colour) {
        const auto linear = [](double c) {
            return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
        };
        return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) +
               0.0722 * linear(colour.blueF());
    };
    const double x = luminance(a), y = luminance(b);
    return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

// WCAG 2.1: words 4.5, what is drawn 3. What stands behind words are the page and faint bars.
TEST(Contrast, OfWordsAndShapesInPlots) {
    for (const Theme theme : {Theme::light, Theme::dark}) {
        const QColor page = colour({Ink::background}, theme);
        for (const Ink words : {Ink::text, Ink::muted})
            EXPECT_GE(contrast(colour({words}, theme), page), 4.5);
        for (std::size_t slot = 0; slot < palette_size; ++slot) {
            const QColor own = colour({Ink::variant, slot}, theme);
            EXPECT_GE(contrast(own, page), 3);
            constexpr double faint = 0.35;
            const auto mixed = [&](double a, double b) { return faint * a + (1 - faint) * b; };
            const QColor behind =
                QColor::fromRgbF(static_cast<float>(mixed(own.redF(), page.redF())),
                                 static_cast<float>(mixed(own.greenF(), page.greenF())),
                                 static_cast<float>(mixed(own.blueF(), page.blueF())));
            EXPECT_GE(contrast(colour({Ink::text}, theme), behind), 4.5) << slot;
        }
    }
    for (const auto& [name, plot] : every_plot())
        for (const Shape& shape : plot.shapes())
            if (const auto* words = std::get_if<Words>(&shape)) {
                EXPECT_TRUE(words->style.ink == Ink::text || words->style.ink == Ink::muted)
                    << name << ": " << words->text;
            }
}

// Two variants of one figure differ in their marks or dashes, not in colour alone.
TEST(Colour, IsNeverAlone) {
    std::set<std::pair<const std::vector<Point>*, std::string_view>> looks;
    for (std::size_t slot = 0; slot < palette_size; ++slot)
        EXPECT_TRUE(looks.emplace(&mark_corners(slot), variant_dash(slot)).second) << slot;
}

}  // namespace
}  // namespace assay::gui

int main(int argc, char** argv) {
    setenv("QT_QPA_PLATFORM", "offscreen", 1);
    QApplication application(argc, argv);
    QApplication::setStyle(QStyleFactory::create("Fusion"));
    QApplication::setCursorFlashTime(0);
    QFont font(QStringLiteral("DejaVu Sans"));
    font.setPixelSize(13);
    QApplication::setFont(font);
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
