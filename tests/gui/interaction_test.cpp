// Zooming, panning, going from mark to mark, measuring, and undoing it: by keys alone, and by
// mouse.
#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QTableView>
#include <QTest>
#include <QWheelEvent>
#include <cmath>

#include "gui/data/between.hpp"
#include "gui/data/sample_totals.hpp"
#include "gui/models/tables.hpp"
#include "gui/views/plot_pane.hpp"
#include "tests/gui/window_fixture.hpp"

namespace assay::gui::testing {
namespace {

using report::Range;
using report::ViewWindow;
using store::testing::example_spec;

class Interaction : public WindowTest {
  protected:
    Interaction() : window(one_system(), folder / "r.db") {
        window.show();
        EXPECT_TRUE(QTest::qWaitForWindowActive(&window));
        window.go({View::timeline, sample});
        settle(window);
    }
    PlotPane& pane() {
        for (auto* pane : window.findChildren<PlotPane*>())
            if (pane->isVisible()) return *pane;
        throw std::logic_error("no pane is open");
    }
    PlotView& plot() { return *pane().plot_view(); }
    void key(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
        QTest::keyClick(QApplication::focusWidget(), key, modifiers);
    }
    Range seen() {
        const report::AxisScale& x = plot().plot()->panels().front().x;
        return {x.low(), x.high()};
    }
    QPoint at(double t_s) {
        const report::PlotFrame& frame = plot().plot()->panels().front();
        return (QPointF(frame.px(t_s), frame.area.top + 5) * plot().scale()).toPoint();
    }

    MainWindow window;
};

TEST_F(Interaction, KeysZoomAndPanAlongTime) {
    const Range whole = seen();
    key(Qt::Key_W);
    EXPECT_NEAR(seen().span(), 0.7 * whole.span(), 1e-9);
    const Range near = seen();
    key(Qt::Key_D);
    EXPECT_NEAR(seen().span(), near.span(), 1e-9);
    EXPECT_GT(seen().low, near.low);
    for (int i = 0; i < 20; ++i) key(Qt::Key_A);  // not beyond the beginning
    EXPECT_NEAR(seen().low, whole.low, 1e-9);
    key(Qt::Key_S);
    EXPECT_GT(seen().span(), near.span());
    key(Qt::Key_W);
    key(Qt::Key_F);
    EXPECT_TRUE(plot().window().whole());
    EXPECT_EQ(seen(), whole);
    for (int i = 0; i < 200; ++i) key(Qt::Key_W);  // ends somewhere
    EXPECT_GT(seen().span(), 0);
}

TEST_F(Interaction, TheWheelZoomsAtThePointer) {
    QTest::mouseMove(&plot(), at(4.0));
    const QPointF place = at(4.0);
    QWheelEvent wheel(place, plot().mapToGlobal(place), {}, {0, 120}, Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(&plot(), &wheel);
    ASSERT_FALSE(plot().window().whole());
    EXPECT_NEAR(seen().span(), 0.8 * 10.2, 0.2);
    EXPECT_NEAR(at(4.0).x(), place.x(), 2);  // stays where it was
}

TEST_F(Interaction, ADraggedRectangleIsWhatIsSeen) {
    QTest::mousePress(&plot(), Qt::LeftButton, {}, at(3));
    QTest::mouseMove(&plot(), at(4));
    QTest::mouseRelease(&plot(), Qt::LeftButton, {}, at(5));
    EXPECT_NEAR(seen().low, 3, 0.05);
    EXPECT_NEAR(seen().high, 5, 0.05);
}

TEST_F(Interaction, OneGoesFromMarkToMark) {
    key(Qt::Key_W);
    EXPECT_EQ(pane().chosen_row(), 0);
    for (int i = 0; i < 4; ++i) key(Qt::Key_Period);
    EXPECT_EQ(pane().chosen_row(), 4);  // the fault
    EXPECT_EQ(plot().pointed_x(), 4.0);
    const Range range = seen();
    EXPECT_NEAR((range.low + range.high) / 2, 4.0, 1.2);
    key(Qt::Key_Comma);
    EXPECT_EQ(pane().chosen_row(), 3);
    QTest::mouseClick(&plot(), Qt::LeftButton, {}, at(4.0));
    EXPECT_GE(pane().chosen_row(), 4);
}

TEST_F(Interaction, TwoMarksMeasureWhatIsBetween) {
    for (int i = 0; i < 4; ++i) key(Qt::Key_Period);
    key(Qt::Key_M);
    for (int i = 0; i < 3; ++i) key(Qt::Key_Period);
    key(Qt::Key_M);
    QString words;
    for (const auto* label : window.findChildren<QLabel*>())
        if (label->accessibleName().startsWith("What is measured")) words = label->text();
    EXPECT_TRUE(words.contains("Δ 3.5 s from 4 to 7.5")) << words.toStdString();
    EXPECT_TRUE(words.contains("1 × death")) << words.toStdString();
    EXPECT_TRUE(words.contains("workers 3 → 3")) << words.toStdString();
    key(Qt::Key_Escape);
}

TEST_F(Interaction, OneStackUndoesZoomsAndFiltersWhereTheyWere) {
    key(Qt::Key_W);
    const ViewWindow zoomed = plot().window();
    QTest::qWait(700);  // else they are one step
    key(Qt::Key_F, Qt::ControlModifier);
    QTest::keyClicks(QApplication::focusWidget(), "death");
    EXPECT_EQ(pane().table()->model()->rowCount(), 1);
    window.go({View::figure, example_spec().experiment});
    settle(window);
    key(Qt::Key_Z, Qt::ControlModifier);  // the filter, over there
    settle(window);
    EXPECT_EQ(window.location().view, View::timeline);
    EXPECT_EQ(pane().seen().filter, "");
    EXPECT_EQ(plot().window(), zoomed);
    EXPECT_EQ(pane().table()->model()->rowCount(), 8);
    key(Qt::Key_Z, Qt::ControlModifier);
    EXPECT_TRUE(plot().window().whole());
    key(Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    EXPECT_EQ(plot().window(), zoomed);
    key(Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    EXPECT_EQ(pane().seen().filter, "death");
}

TEST_F(Interaction, WhatIsSeenStaysWhileARunWrites) {
    key(Qt::Key_W);
    const ViewWindow zoomed = plot().window();
    store::testing::add_sample(store, store::testing::begin(store), example_spec(9));
    QTest::qWait(800);
    settle(window);
    EXPECT_EQ(plot().window(), zoomed);
}

// Another row has other values; that all of them are seen is no step of one's own to undo.
TEST_F(Interaction, AnotherRowOfAHistoryIsSeenWhole) {
    const Location history{View::history, example_spec().experiment};
    SampleSpec other = example_spec();
    other.variant += "_too";
    add_run(store, store::testing::begin(store), other);
    window.go(history);
    settle(window);
    ASSERT_GE(pane().table()->model()->rowCount(), 2);
    pane().choose_row(0);
    key(Qt::Key_W);
    const ViewWindow zoomed = plot().window();
    ASSERT_FALSE(zoomed.whole());
    pane().choose_row(pane().table()->model()->rowCount() - 1);
    EXPECT_TRUE(plot().window().whole());
    key(Qt::Key_Z, Qt::ControlModifier);
    EXPECT_TRUE(plot().window().whole());
    key(Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    EXPECT_EQ(plot().window(), zoomed);
    window.go({});
    window.go(history);
    EXPECT_EQ(plot().window(), zoomed);
}

// More rows than before, of which some come before the chosen one.
TEST(Pane, TheChosenRowStaysChosenWhileOthersCome) {
    MarksModel* marks = make_marks_model(nullptr);
    PlotPane pane({.model = marks, .name = "Marks", .details = [marks](int row) {
                       return marks->details(row);
                   }});
    marks->setParent(&pane);
    const TimelineMark join{0.1, "join", 0, {}, {}}, kill{4, "kill", 1, {}, {}},
        death{4.1, "death", 1, {}, {}};
    marks->set({join, death});
    EXPECT_EQ(pane.chosen_row(), 0);
    pane.choose_row(1);
    marks->set({join, kill, death});
    EXPECT_EQ(pane.chosen_row(), 2);
    marks->set({join, kill});  // it is gone
    EXPECT_EQ(pane.chosen_row(), 0);
}

TEST_F(Interaction, FiguresZoomAlongBothAxes) {
    window.go({View::figure, example_spec().experiment});
    settle(window);
    const auto y = [&] {
        const report::AxisScale& scale = plot().plot()->panels().front().y;
        return scale.high() - scale.low();
    };
    const double whole = y();
    key(Qt::Key_W, Qt::ShiftModifier);
    EXPECT_NEAR(y(), 0.7 * whole, 1e-9);
    EXPECT_FALSE(plot().window().x);
    EXPECT_TRUE(plot().window().y);
}

TEST_F(Interaction, ArrowsMoveTheCursorWithoutAPointer) {
    plot().setFocus();
    key(Qt::Key_Right);
    ASSERT_TRUE(plot().pointed_x());
    const double before = *plot().pointed_x();
    key(Qt::Key_Right, Qt::ShiftModifier);
    EXPECT_NEAR(*plot().pointed_x() - before, 0.1 * seen().span(), 1e-6);
    key(Qt::Key_W);
    EXPECT_TRUE(seen().contains(*plot().pointed_x()));
}

TEST(Between, TellsValuesAtBothEndsAndWhatHappened) {
    store::Sample sample;
    sample.series_data = {{"throughput", "1/s", {}, {0, 1, 2, 3}, {10, 20, 5, NAN}}};
    sample.events = {{1.5, "death", 2, {}}, {1.6, "death", 3, {}}, {9, "join", 2, {}}};
    EXPECT_EQ(happened_between(sample, {1.2, 2.5}),
              "throughput 20 → 5 (-15) 1/s\nbetween: 2 × death");
    EXPECT_EQ(happened_between(sample, {-2, -1}), "nothing happened between");
}

// Whatever runs write and remove: the totals are those of a new count.
TEST(SampleTotals, AreThoseOfANewCount) {
    const store::testing::Folder folder;
    store::Store writer = store::Store::open(folder / "r.db", store::Access::write);
    const store::Store reader = store::Store::open(folder / "r.db", store::Access::read);
    SampleTotals totals;
    const auto expect_same = [&] {
        const auto followed = totals.read(reader), counted = reader.sample_counts();
        ASSERT_EQ(followed.size(), counted.size());
        for (std::size_t i = 0; i < counted.size(); ++i) {
            EXPECT_EQ(followed[i].experiment, counted[i].experiment);
            EXPECT_EQ(followed[i].samples, counted[i].samples);
            EXPECT_EQ(followed[i].newest, counted[i].newest);
        }
    };
    expect_same();
    std::string session;
    for (std::uint64_t seed = 1; seed < 40; ++seed) {
        if (seed % 9 == 1) session = store::testing::begin(writer);
        SampleSpec spec = example_spec(seed);
        if (seed % 4 == 0) spec.experiment = "made/other";
        if (seed % 5 == 0) {
            const auto id = writer.begin_sample(session, spec, store::testing::key_of(spec));
            expect_same();  // while it runs
        } else {
            store::testing::add_sample(writer, session, spec, 1, seed % 7 == 0 ? "failed" : "ok");
        }
        if (seed % 3 == 0) expect_same();
    }
    expect_same();
}

}  // namespace
}  // namespace assay::gui::testing
