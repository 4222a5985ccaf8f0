// Reading from a database of a million samples: 500 sessions of 200 series with 10 rounds, two
// metrics each, a quarter of it of each of four experiments. Made with SQL of its own, since only
// reading is timed; takes some minutes and 1 GB under TMPDIR. How a number grows with the database
// shows with other numbers of sessions.
// Run: build/cpu/bin/store_million_benchmark [--sessions=N]
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "suite/store/ids.hpp"
#include "suite/store/row_codec.hpp"
#include "tests/store/example_rows.hpp"

namespace assay::store::testing {
namespace {

constexpr int series_count = 200, rounds = 10;
int session_count = 500;

SampleSpec spec_of(int series) {
    auto spec = example_spec(1, series % 2 ? "lte" : "dense");
    spec.experiment = fmt::format("made/up{}", series / 50);
    spec.axes = {{"size", std::int64_t{series / 2}}};
    return spec;
}

void insert_samples(SQLite::Database& sql, const std::string& session, const std::string& started) {
    SQLite::Statement sample(sql,
                             "INSERT INTO sample (id, session, series, seed, round, status, spec, "
                             "started, seconds) VALUES (?, ?, ?, 1, ?, 'ok', ?, ?, 1)");
    SQLite::Statement metric(
        sql, "INSERT INTO metric (sample, ordinal, name, labels, value) VALUES (?, ?, ?, '{}', ?)");
    for (int series = 0; series < series_count; ++series) {
        auto spec = spec_of(series);
        const auto id = series_id(series_columns(key_of(spec)));
        for (spec.round = 0; spec.round < rounds; ++spec.round) {
            const auto uuid = new_uuid_beside(session);
            sample.bind(1, uuid);
            sample.bind(2, session);
            sample.bind(3, id);
            sample.bind(4, spec.round);
            sample.bind(5, json_text(to_json(spec)));
            sample.bind(6, started);
            sample.exec();
            sample.reset();
            for (int which = 0; which < 2; ++which) {
                metric.bind(1, uuid);
                metric.bind(2, which);
                metric.bind(3, which ? "throughput" : "seconds");
                metric.bind(4, 1 + 0.01 * spec.round + which);
                metric.exec();
                metric.reset();
            }
        }
    }
}

/// Made once, for all benchmarks.
class Million {
  public:
    Million() : store_(Store::open(folder_ / "r.db", Access::write)) {
        std::vector<std::string> sessions;
        for (int i = 0; i < session_count; ++i)
            sessions.push_back(begin(store_, fmt::format("2026-{:02}-{:02}T{:02}:00:00.000Z",
                                                         1 + i / 56, 1 + i / 2 % 28, i % 2)));
        for (int series = 0; series < series_count; ++series) {  // makes the rows of the series
            auto spec = spec_of(series);
            spec.round = rounds;
            add_sample(store_, sessions.front(), spec);
        }
        SQLite::Database sql((folder_ / "r.db").string(), SQLite::OPEN_READWRITE, 10'000);
        sql.exec("PRAGMA synchronous = OFF; PRAGMA cache_size = -500000");
        for (const auto& session : sessions) {
            SQLite::Transaction transaction(sql);
            insert_samples(sql, session, now_utc());
            transaction.commit();
        }
        newest_ = {sessions.back(), sessions.at(sessions.size() - 2)};
    }
    const Store& store() const { return store_; }
    /// Nothing of the file is in memory any more.
    Store opened_cold() const {
        if (::fsync(file_) != 0 || ::posix_fadvise(file_, 0, 0, POSIX_FADV_DONTNEED) != 0)
            throw std::runtime_error("the file cannot be taken out of the page cache");
        return Store::open(folder_ / "r.db", Access::read);
    }
    const std::vector<std::string>& newest() const { return newest_; }

    static const Million& instance() {
        static const Million made;
        return made;
    }

  private:
    Folder folder_;
    Store store_;
    /// Open to the end: closing it would drop SQLite's locks on the file.
    int file_ = ::open((folder_ / "r.db").c_str(), O_RDONLY | O_CLOEXEC);
    std::vector<std::string> newest_;
};

void two_sessions(benchmark::State& state) {
    const auto& million = Million::instance();
    std::size_t samples = 0;
    for (auto _ : state)
        for (const auto& session : million.newest())
            samples = million.store().session_metrics(session).samples.size();
    state.counters["samples_each"] = static_cast<double>(samples);
}
BENCHMARK(two_sessions)->Unit(benchmark::kMillisecond);

/// After the file has left the page cache.
void two_sessions_cold(benchmark::State& state) {
    const auto& million = Million::instance();
    for (auto _ : state) {
        state.PauseTiming();
        {
            const Store store = million.opened_cold();
            state.ResumeTiming();
            for (const auto& session : million.newest()) store.session_metrics(session);
            state.PauseTiming();
        }
        state.ResumeTiming();
    }
}
BENCHMARK(two_sessions_cold)->Unit(benchmark::kMillisecond)->Iterations(3);

void history_of_a_series(benchmark::State& state) {
    const auto& million = Million::instance();
    std::size_t points = 0;
    for (auto _ : state)
        points = million.store().history(key_of(spec_of(7)), {"seconds", {}}).size();
    state.counters["points"] = static_cast<double>(points);
}
BENCHMARK(history_of_a_series)->Unit(benchmark::kMillisecond);

void histories_of_an_experiment(benchmark::State& state) {
    const auto& million = Million::instance();
    std::size_t histories = 0;
    for (auto _ : state) histories = million.store().histories("made/up1").size();
    state.counters["histories"] = static_cast<double>(histories);
}
BENCHMARK(histories_of_an_experiment)->Unit(benchmark::kMillisecond);

void unsuccessful_samples(benchmark::State& state) {
    const auto& million = Million::instance();
    for (auto _ : state) million.store().unsuccessful_samples("made/up1");
}
BENCHMARK(unsuccessful_samples)->Unit(benchmark::kMillisecond);

void newest_samples(benchmark::State& state) {
    const auto& million = Million::instance();
    std::size_t samples = 0;
    for (auto _ : state) samples = million.store().newest_samples("made/up1").size();
    state.counters["samples"] = static_cast<double>(samples);
}
BENCHMARK(newest_samples)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace assay::store::testing

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    constexpr const char* flag = "--sessions=";
    for (int i = 1; i < argc; ++i)
        if (std::strncmp(argv[i], flag, std::strlen(flag)) == 0)
            assay::store::testing::session_count =
                std::max(2, std::atoi(argv[i] + std::strlen(flag)));
    benchmark::RunSpecifiedBenchmarks();
}
