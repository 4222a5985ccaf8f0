// The window over large databases: ratios, since times are of this machine. Each size in a process
// of its own. Ends with 1 where a bound is missed.
//   build/cpu/bin/gui_scale_benchmark [--samples=1000000]
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>

#include <QProcess>
#include <QTest>
#include <QTimer>
#include <atomic>
#include <cmath>
#include <ctime>
#include <fstream>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "gui/data/overview.hpp"
#include "gui/views/plot_pane.hpp"
#include "tests/gui/window_fixture.hpp"

namespace assay::gui::testing {
namespace {

constexpr int series_of_a_session = 200;
constexpr double frames_ms = 50;
constexpr int pan_turns = 5;

/// Sessions of 200 samples each: one through the store, the others copied from it by SQL.
void fill(const std::filesystem::path& file, long samples) {
    store::Store store = store::Store::open(file, store::Access::write);
    const std::string session = store::testing::begin(store, "2026-01-01T00:00:00.000Z");
    for (std::uint64_t i = 0; i < series_of_a_session; ++i) {
        SampleSpec spec = store::testing::example_spec(1, i % 2 ? "lazarus" : "ds");
        spec.experiment = fmt::format("made/up{}", i / 20);
        spec.axes = {{"size", static_cast<std::int64_t>(i)}};
        store::testing::add_sample(store, session, spec);
    }
    store.finish_session(session, "finished");
    SQLite::Database sql(file.string(), SQLite::OPEN_READWRITE, 10'000);
    const long copies = samples / series_of_a_session - 1;
    sql.exec("PRAGMA synchronous = OFF; PRAGMA cache_size = -400000; PRAGMA temp_store = MEMORY");
    sql.exec("BEGIN");
    sql.exec(
        "CREATE TEMP TABLE copy AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
        "WHERE i < " +
        std::to_string(copies) +
        ") SELECT i, "
        "lower(printf('%08x-0000-7000-8000-%012x', i, i)) AS id FROM n WHERE i <= " +
        std::to_string(copies));
    sql.exec(
        "INSERT INTO session (id, machine, command, plan_hash, build, suspects, started, "
        "finished, state, planned, arrival) SELECT copy.id, machine, command, plan_hash, build, "
        "suspects, printf('2026-%02d-%02dT%02d:%02d:00.000Z', 1 + i / 2000, 1 + i / 70 % 28, "
        "i / 60 % 24, i % 60), finished, state, planned, arrival + i FROM session, copy");
    sql.exec(
        "INSERT INTO sample (id, session, series, seed, round, status, reason, spec, started, "
        "seconds) SELECT substr(copy.id, 1, 24) || substr(sample.id, 25), copy.id, series, seed, "
        "round, status, reason, spec, sample.started, seconds FROM copy, sample");
    sql.exec("COMMIT");
}

/// Time that this thread had a processor: others keep this machine busy.
double busy_ms() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

double ms_of(const std::function<void()>& work, int tries = 5) {
    double best = 1e300;
    for (int i = 0; i < tries; ++i) {
        const double before = busy_ms();
        work();
        best = std::min(best, busy_ms() - before);
    }
    return best;
}

/// Without pages of the file itself, which the kernel lends and takes back.
double resident_mb() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.rfind("RssAnon:", 0) == 0) return std::atof(line.c_str() + 8) / 1024;
    return 0;
}

/// How long the user's thread was not there for its user, at most: of its own work, not of what the
/// machine gave to others, so the processor's time of this thread between two beats.
class Heartbeat {
  public:
    Heartbeat() {
        QObject::connect(&timer_, &QTimer::timeout, [this] { beat(); });
        timer_.start(1);
        last_ = busy_ms();
    }
    double longest_ms() const { return longest_; }
    void forget() { longest_ = 0, last_ = busy_ms(); }

  private:
    void beat() {
        longest_ = std::max(longest_, busy_ms() - last_);
        last_ = busy_ms();
    }
    QTimer timer_;
    double last_ = 0, longest_ = 0;
};

nlohmann::json measure_database(long samples) {
    const store::testing::Folder folder;
    // What filling it took must not count.
    const std::string file = (folder / "r.db").string();
    QProcess::execute(QApplication::applicationFilePath(),
                      {"--fill", QString::number(samples), QString::fromStdString(file)});
    const auto registry = one_system();
    nlohmann::json out;
    {
        SQLite::Database sql((folder / "r.db").string(), SQLite::OPEN_READONLY, 10'000);
        out["sql_ms"] = ms_of([&] {
            SQLite::Statement counts(sql,
                                     "SELECT experiment, status, count(*) FROM sample JOIN series "
                                     "ON series.id = sample.series GROUP BY experiment, status");
            while (counts.executeStep()) {
            }
        });
        store::Store store = store::Store::open(folder / "r.db", store::Access::read);
        out["overview_ms"] = ms_of([&] { read_overview(*registry, store); });
        SampleTotals totals;
        read_overview(*registry, store, totals);
        store::Store writer = store::Store::open(folder / "r.db", store::Access::write);
        const std::string session = store::testing::begin(writer);
        std::uint64_t seed = 1000;
        double best = 1e300;
        for (int i = 0; i < 20; ++i) {
            store::testing::add_sample(writer, session, store::testing::example_spec(++seed));
            best = std::min(best, ms_of([&] { read_overview(*registry, store, totals); }, 1));
        }
        out["refresh_ms"] = best;
        writer.finish_session(session, "finished");
    }
    Heartbeat heartbeat;
    MainWindow window(registry, folder / "r.db");
    window.show();
    settle(window);
    heartbeat.forget();  // opening a window is Qt's work
    std::atomic<bool> over{false};
    std::thread writer([&] {
        store::Store store = store::Store::open(folder / "r.db", store::Access::write);
        const std::string session = store::testing::begin(store);
        for (std::uint64_t seed = 5000; !over; ++seed) {
            add_run(store, session, store::testing::example_spec(seed), 200);
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
        store.finish_session(session, "finished");
    });
    QTest::qWait(3000);
    window.go({View::figure, store::testing::example_spec().experiment});
    settle(window);
    QTest::qWait(1500);
    window.go({View::overview, {}});
    settle(window);
    QTest::qWait(500);
    over = true;
    writer.join();
    out["silent_ms"] = heartbeat.longest_ms();
    out["resident_mb"] = resident_mb();
    return out;
}

nlohmann::json measure_panning(long points) {
    const store::testing::Folder folder;
    std::string sample;
    {
        store::Store store = store::Store::open(folder / "r.db", store::Access::write);
        sample = add_run(store, store::testing::begin(store), store::testing::example_spec(),
                         static_cast<std::size_t>(points));
    }
    Heartbeat heartbeat;
    MainWindow window(one_system(), folder / "r.db");
    window.show();
    settle(window);
    heartbeat.forget();
    window.go({View::timeline, sample});
    settle(window);
    QTest::qWait(100);
    PlotView* plot = nullptr;
    for (auto* pane : window.findChildren<PlotPane*>())
        if (pane->isVisible()) plot = pane->plot_view();
    plot->zoom(PlotView::Axis::x, 0.5);
    std::vector<double> times;
    for (int i = 0; i < 60; ++i) {
        times.push_back(ms_of(
            [&] {
                plot->pan(PlotView::Axis::x, i % 2 ? 0.1 : -0.1);
                plot->repaint();
            },
            1));
        QApplication::processEvents();
    }
    std::sort(times.begin(), times.end());
    return {{"pan_ms", times[times.size() / 2]}, {"silent_ms", heartbeat.longest_ms()}};
}

nlohmann::json in_a_process_of_its_own(const QString& what, long size) {
    QProcess process;
    process.setProcessChannelMode(QProcess::ForwardedErrorChannel);
    process.start(QApplication::applicationFilePath(), {what, QString::number(size)});
    process.waitForFinished(-1);
    return nlohmann::json::parse(process.readAllStandardOutput().toStdString());
}

int compare(long many) {
    const auto data = [](long n) { return in_a_process_of_its_own("--database", n); };
    const nlohmann::json few = data(1'000), some = data(10'000), most = data(many);
    // Two processes a few seconds apart may not find the machine alike: by turns.
    std::vector<nlohmann::json> pans;
    double short_ms = INFINITY, long_ms = INFINITY;
    for (int turn = 0; turn < pan_turns; ++turn)
        for (const auto& [points, best] : {std::pair(1'000L, &short_ms), {100'000L, &long_ms}}) {
            pans.push_back(in_a_process_of_its_own("--pan", points));
            *best = std::min(*best, pans.back().at("pan_ms").get<double>());
        }
    bool all_kept = true;
    const auto row = [&](const std::string& what, double value, double of, double bound) {
        const double ratio = value / of;
        all_kept &= ratio <= bound;
        fmt::print("{:<62}{:>9.2f} of {:>8.2f}: {:>5.2f}, at most {:g}{}\n", what, value, of, ratio,
                   bound, ratio <= bound ? "" : "  MISSED");
    };
    const auto number = [](const nlohmann::json& of, const char* name) {
        return of.at(name).get<double>();
    };
    row(fmt::format("overview of {} samples, ms, of one SQL pass", many),
        number(most, "overview_ms"), number(most, "sql_ms"), 3);
    row(fmt::format("memory at {} samples, MB, of that at 10000", many),
        number(most, "resident_mb"), number(some, "resident_mb"), 1.5);
    row(fmt::format("a refresh beside a run at {} samples, ms, of that at 1000", many),
        number(most, "refresh_ms"), number(few, "refresh_ms"), 2);
    row("panning 100000 points, ms, of 1000", long_ms, short_ms, 2);
    double silent = 0;
    for (const nlohmann::json* one : {&few, &some, &most})
        silent = std::max(silent, number(*one, "silent_ms"));
    for (const nlohmann::json& one : pans) silent = std::max(silent, number(one, "silent_ms"));
    row("the user's thread at work without a pause, ms, of three frames", silent, frames_ms, 1);
    return all_kept ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace assay::gui::testing

int main(int argc, char** argv) {
    using namespace assay::gui::testing;
    setenv("QT_QPA_PLATFORM", "offscreen", 1);
    QApplication application(argc, argv);
    QApplication::setCursorFlashTime(0);
    const std::string what = argc > 1 ? argv[1] : "";
    const long size = argc > 2 ? std::atol(argv[2]) : 0;
    if (what == "--fill")
        fill(argv[3], size);
    else if (what == "--database")
        std::cout << measure_database(size).dump() << std::endl;
    else if (what == "--pan")
        std::cout << measure_panning(size).dump() << std::endl;
    else
        return compare(what.rfind("--samples=", 0) == 0 ? std::atol(what.c_str() + 10) : 1'000'000);
    return 0;
}
