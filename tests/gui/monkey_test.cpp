// Somebody who presses, types, clicks and drags whatever comes, while a run writes into the same
// database: nothing may crash, hang or race. The same seed does the same, but for the time that
// things take.
//   ASSAY_MONKEY_SECONDS=600 ASSAY_MONKEY_SEED=7 build/asan-window/bin/gui_monkey_test
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QElapsedTimer>
#include <QPointer>
#include <QProcess>
#include <QPushButton>
#include <QTest>
#include <QTimer>
#include <QToolButton>
#include <QWheelEvent>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "gui/views/theme.hpp"
#include "tests/gui/window_fixture.hpp"

namespace assay::gui::testing {
namespace {

using store::testing::example_spec;

double setting(const char* name, double usual) {
    const char* text = std::getenv(name);
    return text ? std::atof(text) : usual;
}

class Monkey {
  public:
    Monkey(MainWindow& window, unsigned seed, std::vector<std::string> samples)
        : window_(window), random_(seed), samples_(std::move(samples)) {}

    void act() {
        switch (below(12)) {
            case 0:
                return go();
            case 1:
                return window_.resize(320 + below(1200), 240 + below(900));
            case 2:
                return window_.set_theme(below(2) ? report::Theme::dark : report::Theme::light);
            case 3:
            case 4:
                return click();
            case 5:
                return drag();
            case 6:
                return turn_wheel();
            case 7:
                return window_.back();
            default:
                return press();
        }
    }

  private:
    int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
    template <class List>
    auto any_of(const List& list) {
        return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))];
    }

    void go() {
        const std::string id = example_spec().experiment;
        const std::vector<Location> places{{View::overview, ""},
                                           {View::figure, id},
                                           {View::compare, "latest~1,latest"},
                                           {View::timeline, any_of(samples_)},
                                           {View::history, id},
                                           {View::run, ""},
                                           {View::run, id},
                                           {View::machine, "latest"},
                                           {View::figure, "made/nothing"},
                                           {View::timeline, "zz"},
                                           {View::compare, "x"}};
        window_.go(any_of(places));
    }
    void press() {
        static const std::vector<QKeySequence> keys{Qt::Key_1,
                                                    Qt::Key_2,
                                                    Qt::Key_3,
                                                    Qt::Key_4,
                                                    Qt::Key_5,
                                                    Qt::Key_6,
                                                    Qt::Key_T,
                                                    Qt::Key_W,
                                                    Qt::Key_W,
                                                    Qt::Key_S,
                                                    Qt::Key_A,
                                                    Qt::Key_D,
                                                    Qt::Key_F,
                                                    Qt::Key_M,
                                                    Qt::Key_M,
                                                    Qt::Key_R,
                                                    Qt::Key_E,
                                                    Qt::Key_Period,
                                                    Qt::Key_Period,
                                                    Qt::Key_Comma,
                                                    Qt::Key_Slash,
                                                    Qt::Key_Escape,
                                                    Qt::Key_Tab,
                                                    Qt::Key_Left,
                                                    Qt::Key_Right,
                                                    Qt::Key_Up,
                                                    Qt::Key_Down,
                                                    Qt::Key_Return,
                                                    Qt::Key_Backspace,
                                                    Qt::Key_Question,
                                                    Qt::Key_PageDown,
                                                    Qt::Key_Home,
                                                    Qt::Key_X,
                                                    Qt::SHIFT | Qt::Key_W,
                                                    Qt::SHIFT | Qt::Key_S,
                                                    Qt::SHIFT | Qt::Key_A,
                                                    Qt::CTRL | Qt::Key_F,
                                                    Qt::CTRL | Qt::Key_L,
                                                    Qt::CTRL | Qt::Key_Z,
                                                    Qt::CTRL | Qt::Key_Z,
                                                    Qt::CTRL | Qt::SHIFT | Qt::Key_Z};
        const auto key = any_of(keys)[0];
        QWidget* at = QApplication::focusWidget();
        QTest::keyClick(at ? at : &window_, key.key(), key.keyboardModifiers());
    }
    /// It would run, stop or write something, by the program beside this one.
    static bool is_command(const QWidget* widget) {
        if (const auto* view = qobject_cast<const QToolButton*>(widget))
            return view->text() == QStringLiteral("Machine");  // it asks the doctor
        const auto* button = qobject_cast<const QPushButton*>(widget);
        return button && !button->text().contains(QStringLiteral("Copy"));
    }
    QWidget* widget() {
        std::vector<QWidget*> all;
        for (QWidget* one : window_.findChildren<QWidget*>())
            if (!is_command(one) && one->isVisible() && one->width() > 1 && one->height() > 1)
                all.push_back(one);
        return all.empty() ? &window_ : any_of(all);
    }
    QPoint in(const QWidget* widget) { return {below(widget->width()), below(widget->height())}; }
    Qt::KeyboardModifiers modifiers() { return below(4) ? Qt::NoModifier : Qt::ShiftModifier; }
    void click() {
        QPointer<QWidget> there = widget();
        QTest::mouseMove(there, in(there));
        if (there) QTest::mouseClick(there, Qt::LeftButton, modifiers(), in(there));
        if (there && !below(3)) QTest::mouseDClick(there, Qt::LeftButton, {}, in(there));
    }
    void drag() {
        QPointer<QWidget> there = widget();
        const auto with = modifiers();
        QTest::mousePress(there, Qt::LeftButton, with, in(there));
        for (int i = 0; i < 3 && there; ++i) QTest::mouseMove(there, in(there));
        if (there) QTest::mouseRelease(there, Qt::LeftButton, with, in(there));
    }
    void turn_wheel() {
        QWidget* there = widget();
        const QPoint at = in(there);
        QWheelEvent wheel(at, there->mapToGlobal(at), {}, {0, below(2) ? 120 : -120}, Qt::NoButton,
                          modifiers(), Qt::NoScrollPhase, false);
        QApplication::sendEvent(there, &wheel);
    }

    MainWindow& window_;
    std::mt19937 random_;
    std::vector<std::string> samples_;
};

/// Ends the program with a word on where it stood when nothing has happened for two minutes.
class Watch {
  public:
    explicit Watch(unsigned seed)
        : thread_([this, seed](const std::stop_token& stop) {
              using namespace std::chrono_literals;
              long seen = -1;
              for (auto since = std::chrono::steady_clock::now(); !stop.stop_requested();) {
                  const auto now = std::chrono::steady_clock::now();
                  if (const long acts = acts_; acts != seen) {
                      seen = acts;
                      since = now;
                  } else if (now - since > 120s) {
                      fmt::print(stderr, "nothing since act {} of seed {}\n", seen, seed);
                      std::abort();
                  }
                  std::this_thread::sleep_for(100ms);
              }
          }) {}
    void saw(long acts) { acts_ = acts; }

  private:
    std::atomic<long> acts_{0};
    std::jthread thread_;
};

TEST(Monkey, BesideAWriter) {
    const double seconds = setting("ASSAY_MONKEY_SECONDS", 60);
    const auto seed = static_cast<unsigned>(setting("ASSAY_MONKEY_SEED", 1));
    const store::testing::Folder folder;
    std::vector<std::string> samples;
    {
        store::Store store = store::Store::open(folder / "r.db", store::Access::write);
        for (int session = 0; session < 3; ++session) {
            const std::string id = store::testing::begin(store);
            for (std::uint64_t seed = 1; seed < 4; ++seed)
                samples.push_back(add_run(store, id, example_spec(seed), 500));
        }
    }
    QProcess writer;
    writer.setProcessChannelMode(QProcess::ForwardedChannels);
    writer.start(QApplication::applicationFilePath(),
                 {"--write", QString::fromStdString((folder / "r.db").string())});
    ASSERT_TRUE(writer.waitForStarted());

    long acts = 0;
    Watch watch(seed);
    {
        MainWindow window(one_system(), folder / "r.db");
        window.show();
        QTimer closes_dialogs;  // they wait for somebody
        QObject::connect(&closes_dialogs, &QTimer::timeout, [] {
            if (QWidget* dialog = QApplication::activeModalWidget()) dialog->close();
        });
        closes_dialogs.start(20);
        Monkey monkey(window, seed, samples);
        QElapsedTimer time;
        for (time.start(); time.elapsed() < static_cast<qint64>(seconds * 1000); ++acts) {
            watch.saw(acts);
            monkey.act();
            if (acts % 5 == 0) QTest::qWait(acts % 50 == 0 ? 60 : 1);
            ASSERT_TRUE(window.isVisible()) << "seed " << seed << ", act " << acts;
        }
        window.go({View::overview, {}});
        settle(window);
        EXPECT_EQ(window.notice(), "");
    }
    EXPECT_EQ(writer.state(), QProcess::Running) << "the writer was hindered";
    writer.terminate();
    writer.waitForFinished();
    RecordProperty("acts", static_cast<int>(acts));
    fmt::print("monkey: {} acts in {} s, seed {}\n", acts, seconds, seed);
}

/// Runs samples into the database until it is ended.
int write(const std::filesystem::path& file) {
    store::Store store = store::Store::open(file, store::Access::write);
    for (std::uint64_t seed = 100;;) {
        store::Session session = store::testing::example_session();
        session.planned = 20;
        store.put_machine(store::testing::example_machine());
        store.begin_session(session);
        for (int i = 0; i < 20; ++i) {
            add_run(store, session.id, example_spec(++seed), 300);
            std::this_thread::sleep_for(std::chrono::milliseconds(150));
        }
        store.finish_session(session.id, "finished");
    }
}

}  // namespace
}  // namespace assay::gui::testing

int main(int argc, char** argv) {
    if (argc == 3 && std::string_view(argv[1]) == "--write")
        return assay::gui::testing::write(argv[2]);
    setenv("QT_QPA_PLATFORM", "offscreen", 1);
    QApplication application(argc, argv);
    QApplication::setCursorFlashTime(0);
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
