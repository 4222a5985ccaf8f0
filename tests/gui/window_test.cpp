// The window on a screen that nobody sees: what is asked for is shown, by mouse and by keys.
#include "gui/views/main_window.hpp"

#include <gtest/gtest.h>

#include <QLabel>
#include <QLineEdit>
#include <QScrollArea>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>
#include <QToolButton>
#include <QTreeView>

#include "gui/views/export.hpp"
#include "gui/views/theme.hpp"
#include "suite/base/error.hpp"
#include "tests/store/example_rows.hpp"

namespace assay::gui {
namespace {

using store::testing::add_sample;
using store::testing::begin;
using store::testing::example_spec;
using store::testing::Folder;

constexpr int patience_ms = 10'000;

// One experiment, of which example_spec() makes samples.
std::shared_ptr<const Registry> one_system() {
    Experiment experiment;
    experiment.id = example_spec().experiment;
    experiment.title = "A figure";
    experiment.source = "section 1, Fig. 1";
    for (const auto& [axis, value] : example_spec().axes)
        experiment.axes.push_back({axis, "", {value}});
    experiment.variants = {example_spec().variant};
    experiment.metrics = {{"seconds", "s", "it took", Direction::lower}};
    experiment.figure = {.kind = Figure::Kind::bars, .metric = "seconds", .x = "variant"};
    System system;
    system.id = experiment.system();
    system.title = "One system";
    system.experiments = {experiment};
    auto registry = std::make_shared<Registry>();
    registry->add(std::move(system));
    return registry;
}

class Window : public ::testing::Test {
  protected:
    Window() : store(store::Store::open(folder / "r.db", store::Access::write)) {
        sample = add_sample(store, begin(store), example_spec());
    }

    void settle(MainWindow& window) const {
        QSignalSpy settled(&window, &MainWindow::settled_now);
        if (!window.settled()) settled.wait(patience_ms);
        QApplication::processEvents();
    }

    Folder folder;
    store::Store store;
    std::string sample;
};

TEST(Location, IsReadAndWritten) {
    for (const char* text :
         {"overview", "figure:lazarus/fig8", "compare:latest~1,latest", "timeline:1a2b",
          "history:lazarus/fig*", "run", "run:lazarus/fig8", "machine", "machine:latest~1"})
        EXPECT_EQ(to_string(parse_location(text)), text);
    for (const char* text :
         {"", "figure", "figure:", "overview:x", "picture:x", ":", "compare:", "run:", "machine:"})
        EXPECT_THROW(parse_location(text), UserError) << text;
}

TEST_F(Window, ShowsAFigureAndGoesBack) {
    MainWindow window(one_system(), folder / "r.db");
    window.show();
    settle(window);
    EXPECT_EQ(window.notice(), "");
    EXPECT_EQ(window.overview().rowCount(), 1);
    const std::string id = example_spec().experiment;
    window.go({View::figure, id});
    settle(window);
    EXPECT_EQ(window.notice(), "");
    QTest::keyClick(&window, Qt::Key_4);  // its newest sample
    settle(window);
    settle(window);
    EXPECT_EQ(window.location(), (Location{View::timeline, sample}));
    QTest::keyClick(&window, Qt::Key_5);
    settle(window);
    EXPECT_EQ(window.location(), (Location{View::history, id}));
    EXPECT_EQ(window.notice(), "");
    for (int i = 0; i < 3; ++i) window.back();
    EXPECT_EQ(window.location(), Location{});
    window.back();  // nothing is before it
    EXPECT_EQ(window.location(), Location{});
}

// What is left while a question is open is not said to have failed where one is now.
TEST_F(Window, WhatIsLeftIsForgotten) {
    MainWindow window(one_system(), folder / "r.db");
    window.show();
    settle(window);
    window.go({View::figure, "made/nothing"});
    window.go({View::overview, {}});
    settle(window);
    QTest::qWait(200);
    EXPECT_EQ(window.notice(), "");
}

TEST_F(Window, EveryViewIsReachedByMouse) {
    MainWindow window(one_system(), folder / "r.db");
    window.show();
    settle(window);
    const auto button = [&](const char* name) {
        for (auto* one : window.findChildren<QToolButton*>())
            if (one->text() == name || one->accessibleName() == name) return one;
        throw std::out_of_range(name);
    };
    const auto click = [&](const char* name) {
        QTest::mouseClick(button(name), Qt::LeftButton);
        settle(window);
        settle(window);
    };
    const std::string id = example_spec().experiment;
    EXPECT_FALSE(button("Back")->isEnabled());
    EXPECT_FALSE(button("History")->isEnabled());  // no figure was looked at
    EXPECT_TRUE(button("Overview")->isChecked());
    click("Overview");
    EXPECT_TRUE(button("Overview")->isChecked());
    window.go({View::figure, "made/nothing"});  // no figure either
    EXPECT_FALSE(button("History")->isEnabled());
    window.go({View::run, id});
    settle(window);
    for (const auto& [name, place] :
         {std::pair("Compare", Location{View::compare, "latest~1,latest"}),
          {"Timeline", Location{View::timeline, sample}},
          {"History", Location{View::history, id}},
          {"Run", Location{View::run, id}},
          {"Machine", Location{View::machine, {}}},
          {"Overview", Location{}},
          {"Figure", Location{View::figure, id}}}) {
        click(name);
        EXPECT_EQ(window.location(), place) << name;
        EXPECT_TRUE(button(name)->isChecked()) << name;
    }
    click("Back");
    EXPECT_EQ(window.location(), Location{});
}

TEST_F(Window, WhatCannotBeShownIsSaid) {
    MainWindow window(one_system(), folder / "r.db");
    window.show();
    for (const Location& wrong :
         {Location{View::figure, "made/nothing"}, Location{View::timeline, "ffffffff"},
          Location{View::history, "made/nothing"}, Location{View::compare, "latest"}}) {
        window.go(wrong);
        settle(window);
        EXPECT_NE(window.notice(), "") << to_string(wrong);
    }
    window.go({View::overview, {}});
    settle(window);
    EXPECT_EQ(window.notice(), "");
}

// A sentence stays until one goes elsewhere, and what cannot be shown is not asked for again and
// again.
TEST_F(Window, WhatIsWrongIsSaidOnce) {
    MainWindow window(one_system(), folder / "r.db");
    window.show();
    window.go({View::figure, "made/nothing"});
    settle(window);
    const QString said = window.notice();
    EXPECT_NE(said, "");
    const QSignalSpy again(&window, &MainWindow::settled_now);
    QTest::qWait(1500);
    EXPECT_LE(again.count(), 1);
    EXPECT_EQ(window.notice(), said);
}

TEST_F(Window, FollowsARun) {
    MainWindow window(one_system(), folder / "r.db");
    window.show();
    settle(window);
    const std::string session = begin(store);
    for (std::uint64_t seed = 2; seed < 5; ++seed) add_sample(store, session, example_spec(seed));
    const auto samples = [&] {
        const auto& rows = window.overview().overview().systems;
        return rows.empty() ? 0 : rows[0].experiments[0].samples.at("ok");
    };
    EXPECT_TRUE(QTest::qWaitFor([&] { return samples() == 4; }, patience_ms));
}

// Whoever cannot see the window is told what each part of it is.
TEST_F(Window, EveryPartHasAName) {
    MainWindow window(one_system(), folder / "r.db");
    window.show();
    settle(window);
    for (const auto* view : window.findChildren<QTableView*>())
        EXPECT_FALSE(view->accessibleName().isEmpty());
    for (const auto* view : window.findChildren<QTreeView*>())
        EXPECT_FALSE(view->accessibleName().isEmpty());
    for (const auto* line : window.findChildren<QLineEdit*>())
        EXPECT_FALSE(line->accessibleName().isEmpty());
}

// Letters typed into the search are letters.
TEST_F(Window, SearchTakesWhatIsTyped) {
    MainWindow window(one_system(), folder / "r.db");
    window.show();
    settle(window);
    QTest::keyClick(&window, Qt::Key_Slash);
    QWidget* search = QApplication::focusWidget();
    ASSERT_TRUE(qobject_cast<QLineEdit*>(search));
    QTest::keyClicks(search, "fig15e");
    EXPECT_EQ(qobject_cast<QLineEdit*>(search)->text(), "fig15e");
    EXPECT_EQ(window.location(), Location{});
}

TEST_F(Window, TheOverviewIsExportedAsItIsSeen) {
    MainWindow window(one_system(), folder / "r.db");
    window.show();
    settle(window);
    const auto* overview = window.findChild<OverviewView*>();
    const QByteArray all = csv_of(overview->rows());
    EXPECT_TRUE(all.contains(example_spec().experiment.c_str())) << all.toStdString();
    QTest::keyClick(&window, Qt::Key_Slash);
    QTest::keyClicks(QApplication::focusWidget(), "no such figure");
    EXPECT_EQ(csv_of(overview->rows()).count('\n'), 1);  // the heads
}

double contrast(QColor a, QColor b) {
    const auto luminance = [](QColor colour) {
        const auto linear = [](double c) {
            return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
        };
        return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) +
               0.0722 * linear(colour.blueF());
    };
    const double x = luminance(a), y = luminance(b);
    return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

// WCAG 2.1, level AA.
TEST(Theme, WordsStandOutFromWhatIsBehindThem) {
    for (const report::Theme theme : {report::Theme::light, report::Theme::dark}) {
        const QPalette palette = palette_of(theme);
        for (const auto& [words, behind] : {std::pair(QPalette::WindowText, QPalette::Window),
                                            {QPalette::Text, QPalette::Base},
                                            {QPalette::Text, QPalette::AlternateBase},
                                            {QPalette::ButtonText, QPalette::Button},
                                            {QPalette::PlaceholderText, QPalette::Base},
                                            {QPalette::PlaceholderText, QPalette::Window},
                                            {QPalette::HighlightedText, QPalette::Highlight},
                                            {QPalette::ToolTipText, QPalette::ToolTipBase}})
            EXPECT_GE(contrast(palette.color(words), palette.color(behind)), 4.5)
                << words << " on " << behind;
    }
}

}  // namespace
}  // namespace assay::gui
