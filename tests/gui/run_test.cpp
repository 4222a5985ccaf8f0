// The window beside the real program: what it plans, starts, stops and writes by its commands.
#include "gui/data/runs.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <QApplication>
#include <QClipboard>
#include <QFile>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>
#include <QTreeWidget>

#include "gui/data/assay_program.hpp"
#include "gui/data/catalogue.hpp"
#include "gui/models/run_tables.hpp"
#include "gui/pages/run_form.hpp"
#include "gui/views/command_dialog.hpp"
#include "gui/views/export.hpp"
#include "gui/views/main_window.hpp"
#include "suite/base/error.hpp"
#include "suite/store/runner_process.hpp"
#include "tests/store/example_rows.hpp"

namespace assay::gui {
namespace {

using store::testing::add_sample;
using store::testing::begin;
using store::testing::Environment;
using store::testing::example_spec;
using store::testing::Folder;

constexpr int patience_ms = 60'000;
const char* const quick = "lazarus/fig10b";

std::shared_ptr<const Registry> everything() {
    static const auto registry = std::make_shared<const Registry>(ask_catalogue(find_assay()));
    return registry;
}

class Runs : public ::testing::Test {
  protected:
    std::filesystem::path file() const { return folder / "r.db"; }
    template <class Widget>
    static Widget* named(const QWidget& window, const char* name) {
        for (Widget* one : window.findChildren<Widget*>())
            if (one->accessibleName() == name) return one;
        throw std::out_of_range(name);
    }
    std::vector<gui::Run> stored() const {
        try {
            return read_runs(store::Store::open(file(), store::Access::read));
        } catch (const store::StoreError&) {  // not there yet, or still empty
            return {};
        }
    }

    Folder folder;
    Environment state{"XDG_STATE_HOME", folder.path().c_str()};
    Environment lock{"ASSAY_LOCK", (folder / "lock").c_str()};
    Environment database{"ASSAY_DB", (folder / "unused.db").c_str()};
};

TEST(RunArguments, AreWhatOneTypes) {
    const RunChoice choice{.experiments = "lazarus/fig8  lte",
                           .profile = "small",
                           .mode = "emulated",
                           .rounds = 3,
                           .variants = {"lazarus"},
                           .axes = {{"model", {"gpt-l", "gpt-s"}}},
                           .more = "--fault 'kill:rank=1@step=5'"};
    EXPECT_EQ(command_text(run_arguments(choice, store::default_path())),
              "assay run lazarus/fig8 lte --profile small --mode emulated --variant lazarus "
              "-a model=gpt-l,gpt-s --rounds 3 --fault kill:rank=1@step=5");
    EXPECT_TRUE(run_arguments(choice, "/a/b.db").join(' ').endsWith("--db /a/b.db"));
}

// Everything checked narrows nothing; what is unchecked is left out.
TEST(RunForm, NarrowsByWhatIsChecked) {
    RunForm form(everything());
    form.set_experiments(quick);
    EXPECT_TRUE(form.choice().variants.empty());
    EXPECT_TRUE(form.choice().axes.empty());
    auto* parts = form.findChild<QTreeWidget*>();
    ASSERT_GE(parts->topLevelItemCount(), 2);
    const QSignalSpy changed(&form, &RunForm::changed);
    parts->topLevelItem(0)->child(0)->setCheckState(0, Qt::Unchecked);
    EXPECT_EQ(changed.count(), 1);
    const Experiment& experiment = *everything()->experiment(quick);
    EXPECT_EQ(form.choice().variants.size(), experiment.variants.size() - 1);
    form.set_experiments("lazarus");  // several: nothing to narrow
    EXPECT_EQ(parts->topLevelItemCount(), 0);
}

TEST_F(Runs, ARunnerIsFoundByTheLockThatItHolds) {
    std::string session;
    {
        store::Store store = store::Store::open(file(), store::Access::write);
        session = begin(store);
        EXPECT_EQ(store::runner_of(file(), session), getpid());
        const std::string over = begin(store);
        store.finish_session(over, "finished");
        EXPECT_FALSE(store::runner_of(file(), over));
        // A copy says the same of its session, but nobody runs it there.
        const std::filesystem::path copy = folder / "copy.db";
        for (const char* part : {"", "-wal", "-runners"})
            std::filesystem::copy_file(file().string() + part, copy.string() + part);
        EXPECT_FALSE(store::runner_of(copy, session));
        EXPECT_THROW(stop_run(copy, session), UserError);
    }
    // The number of the process is still there, and the process lives: but it runs nothing.
    EXPECT_FALSE(store::runner_of(file(), session));
    EXPECT_THROW(stop_run(file(), session), UserError);
    EXPECT_THROW(store::runner_of(file(), "none"), store::StoreError);
}

TEST_F(Runs, PlansStartsAndFollows) {
    store::Store::open(file(), store::Access::write);
    MainWindow window(everything(), file());
    window.show();
    window.go({View::run, quick});
    auto* start = named<QPushButton>(window, "Start the run");
    ASSERT_TRUE(QTest::qWaitFor([&] { return start->isEnabled(); }, patience_ms))
        << named<QLabel>(window, "What it takes")->text().toStdString();
    const QString command = named<QLabel>(window, "The command")->text();
    EXPECT_EQ(command, QStringLiteral("assay run lazarus/fig10b --db ") +
                           QString::fromStdString(file().string()));
    auto* plan = named<QTableView>(window, "The plan, sample by sample");
    const Said said = ask_assay({"run", quick, "--dry-run", "--json"});
    EXPECT_EQ(plan->model()->rowCount(), int(read_plan(said.out).samples.size()));
    QTest::mouseClick(start, Qt::LeftButton);
    EXPECT_TRUE(QTest::qWaitFor(
        [&] {
            const auto runs = stored();
            return !runs.empty() && runs[0].session.state == "finished";
        },
        patience_ms));
    auto* shown = named<QTableView>(window, "Runs");
    EXPECT_TRUE(QTest::qWaitFor(
        [&] {
            return shown->model()->rowCount() == 1 &&
                   shown->model()->index(0, 0).data().toString().contains("finished");
        },
        patience_ms));
    EXPECT_EQ(window.notice(), "");
}

// A plan that comes after one has typed on is of another command: it must not let that one start.
TEST_F(Runs, APlanIsOfTheCommandThatIsShown) {
    store::Store::open(file(), store::Access::write);
    MainWindow window(everything(), file());
    window.show();
    window.go({View::run, quick});
    auto* start = named<QPushButton>(window, "Start the run");
    auto* experiments = named<QLineEdit>(window, "Experiments");
    auto* summary = named<QLabel>(window, "What it takes");
    QTest::qWait(310);  // it is being planned
    experiments->clear();
    QTest::qWait(1000);
    EXPECT_FALSE(start->isEnabled());
    EXPECT_TRUE(summary->text().startsWith("Choose")) << summary->text().toStdString();
    EXPECT_TRUE(window.settled());
}

// Rows move as runs begin and end; Stop means the run that one chose.
TEST_F(Runs, TheChosenRunStaysChosen) {
    store::Store store = store::Store::open(file(), store::Access::write);
    const std::string first = begin(store);
    begin(store);
    MainWindow window(everything(), file());
    window.show();
    window.go({View::run, ""});
    auto* shown = named<QTableView>(window, "Runs");
    auto* words = named<QLabel>(window, "The chosen run in words");
    const auto chosen = [&] { return words->text().section('\n', 0, 0).toStdString(); };
    ASSERT_TRUE(QTest::qWaitFor([&] { return shown->model()->rowCount() == 2; }, patience_ms));
    shown->selectRow(0);
    if (chosen() != first) shown->selectRow(1);
    ASSERT_EQ(chosen(), first);
    const std::string third = begin(store);
    ASSERT_TRUE(QTest::qWaitFor([&] { return shown->model()->rowCount() == 3; }, patience_ms));
    EXPECT_TRUE(QTest::qWaitFor([&] { return chosen() == first; }, patience_ms)) << chosen();
    int finished = 0;
    for (const std::string& session : {third, first}) {  // as many rows, in another order
        store.finish_session(session, "finished");
        ++finished;
        ASSERT_TRUE(QTest::qWaitFor(
            [&] {
                int ended = 0;
                for (int row = 0; row < 3; ++row)
                    ended += shown->model()->index(row, 0).data().toString().contains("finished");
                return ended == finished;
            },
            patience_ms));
        EXPECT_EQ(chosen(), first);
    }
}

// It is in a group of its own, outlives the window, and is stopped by the lock that it holds.
TEST_F(Runs, GoOnWithoutTheWindowAndAreStopped) {
    StartedRun started;
    {
        MainWindow window(everything(), file());
        started = start_run(run_arguments({.experiments = quick,
                                           .profile = {},
                                           .mode = {},
                                           .rounds = 2000,
                                           .variants = {},
                                           .axes = {},
                                           .more = {}},
                                          file()),
                            folder / "runs");
    }
    EXPECT_NE(getpgid(pid_t(started.process)), getpgrp());
    EXPECT_NE(getsid(pid_t(started.process)), getsid(0));
    ASSERT_TRUE(QTest::qWaitFor(
        [&] {
            const auto runs = stored();
            return !runs.empty() && runs[0].done > 3;
        },
        patience_ms))
        << complaint_of(started).toStdString();
    const gui::Run run = stored()[0];
    EXPECT_TRUE(run.runs);
    EXPECT_EQ(run.process, started.process);
    ASSERT_TRUE(run.left_s);
    EXPECT_GT(*run.left_s, 0);
    stop_run(file(), run.session.id);
    EXPECT_TRUE(QTest::qWaitFor([&] { return !is_alive(started.process); }, patience_ms));
    EXPECT_EQ(stored()[0].session.state, "interrupted");
    EXPECT_FALSE(stored()[0].runs);
    QFile events(started.events);
    ASSERT_TRUE(events.open(QIODevice::ReadOnly));
    EXPECT_TRUE(events.readLine().startsWith("{"));
}

TEST_F(Runs, WhatCannotBeRunIsSaid) {
    store::Store::open(file(), store::Access::write);
    MainWindow window(everything(), file());
    window.show();
    window.go({View::run, "lazarus/nothing"});
    auto* words = named<QLabel>(window, "What it takes");
    EXPECT_TRUE(QTest::qWaitFor([&] { return words->text().contains("nothing"); }, patience_ms))
        << words->text().toStdString();
    EXPECT_FALSE(named<QPushButton>(window, "Start the run")->isEnabled());
    const StartedRun run = start_run({"run", "lazarus/nothing"}, folder / "runs");
    EXPECT_TRUE(QTest::qWaitFor([&] { return !is_alive(run.process); }, patience_ms));
    EXPECT_TRUE(complaint_of(run).contains("lazarus/nothing"));
}

TEST_F(Runs, WithoutTheProgramTheSentenceSaysSo) {
    AssayProgram program;
    const Environment nowhere("PATH", "/nowhere");
    bool answered = false;
    program.ask({"nonsense"}, [&](const Said& said) {
        answered = true;
        EXPECT_FALSE(said.ok);
        EXPECT_FALSE(said.why.isEmpty());
    });
    EXPECT_TRUE(QTest::qWaitFor([&] { return answered; }, patience_ms));
    EXPECT_FALSE(program.busy());
}

// ---- commands that write ------------------------------------------------------------------------

TEST_F(Runs, ACommandIsShownBeforeItWrites) {
    store::Store store = store::Store::open(file(), store::Access::write);
    const std::string session = begin(store);
    const QString id = QString::fromStdString(session), where = QString::fromStdString(file());
    auto* dialog =
        new CommandDialog({"Write a note",
                           "It stays.",
                           {{"Note", "", "", true}},
                           [&](const QStringList& values) {
                               return QStringList{"annotate", id, values[0], "--db", where};
                           }},
                          nullptr);
    dialog->open();
    auto* note = dialog->findChild<QLineEdit*>();
    note->setText("new power supply");
    EXPECT_EQ(dialog->command(), "assay annotate " + id + " 'new power supply' --db " + where);
    EXPECT_TRUE(store.annotations(session).empty());
    QSignalSpy done(dialog, &CommandDialog::done_now);
    dialog->run();
    dialog->reject();  // Escape: it is too late
    EXPECT_TRUE(dialog->isVisible());
    ASSERT_TRUE(done.wait(patience_ms));
    ASSERT_EQ(store.annotations(session).size(), 1u);
    EXPECT_EQ(store.annotations(session)[0].text, "new power supply");
}

TEST_F(Runs, ACommandThatFailsSaysWhyAndStays) {
    store::Store::open(file(), store::Access::write);
    CommandDialog* dialog =
        new CommandDialog({"Mute",
                           "x",
                           {},
                           [&](const QStringList&) {
                               return QStringList{"mute", "x *",  "--until",
                                                  "soon", "--db", QString::fromStdString(file())};
                           }},
                          nullptr);
    dialog->open();
    dialog->run();
    QLabel* why = named<QLabel>(*dialog, "What went wrong");
    EXPECT_TRUE(QTest::qWaitFor([&] { return why->isVisible(); }, patience_ms));
    EXPECT_TRUE(why->text().contains("--until soon")) << why->text().toStdString();
    dialog->reject();
}

// ---- from a claim to what happened --------------------------------------------------------------

TEST_F(Runs, FromAClaimToItsSamplesToATimeline) {
    ASSERT_TRUE(ask_assay({"run", quick, "--db", QString::fromStdString(file())}).ok);
    MainWindow window(everything(), file());
    window.show();
    window.go({View::figure, quick});
    auto* claims = named<QTableView>(window, "Claims of the paper");
    ASSERT_TRUE(QTest::qWaitFor([&] { return claims->model()->rowCount() > 0 && window.settled(); },
                                patience_ms));
    auto* behind = named<QTableView>(window, "Samples behind the claim");
    bool found = false;
    for (int row = 0; row < claims->model()->rowCount() && !found; ++row) {
        claims->selectRow(row);
        found = behind->model()->rowCount() > 0;
    }
    ASSERT_TRUE(found);
    behind->setFocus();
    behind->selectRow(0);
    QTest::keyClick(behind, Qt::Key_C, Qt::ControlModifier);
    QTest::mouseClick(behind->viewport(), Qt::LeftButton, {},
                      behind->visualRect(behind->model()->index(0, 0)).center());
    EXPECT_EQ(window.location().view, View::timeline);
    EXPECT_EQ(window.location().argument.substr(0, 8),
              QGuiApplication::clipboard()->text().toStdString());
}

TEST(Export, IsWhatTheNameSays) {
    const Folder folder;
    const auto file = [&](const char* name) { return QString::fromStdString(folder / name); };
    report::Plot drawn("plot", "A plot", "nothing");
    const report::Plot plot = std::move(drawn).finish(40, 20);
    EXPECT_TRUE(save_picture(plot, file("a.svg")));
    EXPECT_TRUE(save_picture(plot, file("a.png")));
    EXPECT_EQ(QImage(file("a.png")).size(), QSize(80, 40));
    for (const char* name : {"a.pdf", "a", "none/a.svg"}) {
        EXPECT_FALSE(save_picture(plot, file(name))) << name;
        EXPECT_FALSE(QFile::exists(file(name))) << name;
    }
}

TEST(Csv, QuotesWhatItMust) {
    QObject owner;
    PlanModel* model = make_plan_model(&owner);
    model->set({{.number = 1,
                 .experiment = "a/b",
                 .variant = "x,\"y\"",
                 .axes = "m=1",
                 .scenario = "",
                 .seed = 7,
                 .seconds = 1}});
    EXPECT_EQ(csv_of(*model),
              "#,Experiment,Variant,Case,Seed,Takes about\r\n1,a/b,\"x,\"\"y\"\"\",m=1,7,1 s\r\n");
}

}  // namespace
}  // namespace assay::gui
