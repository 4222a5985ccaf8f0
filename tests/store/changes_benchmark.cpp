// What it costs to ask what changed, in a small and in a large database: nothing new, one batch of
// a running sample, one finished sample; and, beside it, to read the newest session again. Run:
// build/cpu/bin/store_changes_benchmark
#include <benchmark/benchmark.h>

#include <map>
#include <memory>

#include "tests/store/example_rows.hpp"

namespace assay::store::testing {
namespace {

/// `samples` finished ones in sessions of 100, and a session that runs.
class Filled {
  public:
    explicit Filled(std::int64_t samples) : store(Store::open(folder_ / "r.db", Access::write)) {
        for (std::int64_t i = 0; i < samples; ++i) {
            if (i % 100 == 0) {
                if (i > 0) store.finish_session(session, "finished");
                session = begin(store);
            }
            add(static_cast<std::uint64_t>(i));
        }
        store.finish_session(session, "finished");
        session = begin(store);
    }
    void add(std::uint64_t seed) {
        const SampleSpec spec = example_spec(seed);
        store.finish_sample(
            full_sample(store.begin_sample(session, spec, key_of(spec)), session, spec));
    }
    Store reader() const { return Store::open(folder_ / "r.db", Access::read); }

  private:
    Folder folder_;

  public:
    Store store;
    std::string session;
};

Filled& database_of(std::int64_t samples) {
    static std::map<std::int64_t, std::unique_ptr<Filled>> all;
    auto& database = all[samples];
    if (!database) database = std::make_unique<Filled>(samples);
    return *database;
}

/// For comparison: whoever asks for everything each time.
void everything(benchmark::State& state) {
    const Store reader = database_of(state.range(0)).reader();
    for (auto _ : state) benchmark::DoNotOptimize(reader.changes_since({}));
}
BENCHMARK(everything)->Arg(10)->Arg(10'000)->Unit(benchmark::kMillisecond);

void nothing_new(benchmark::State& state) {
    const Store reader = database_of(state.range(0)).reader();
    Cursor cursor = reader.changes_since(reader.before_what_runs()).next;
    for (auto _ : state) cursor = reader.changes_since(cursor).next;
}
BENCHMARK(nothing_new)->Arg(10)->Arg(10'000)->Unit(benchmark::kMicrosecond);

void a_batch_of_a_running_sample(benchmark::State& state) {
    Filled& database = database_of(state.range(0));
    const Store reader = database.reader();
    Cursor cursor = reader.changes_since(reader.before_what_runs()).next;
    static std::uint64_t seed = 1'000'000;
    const SampleSpec spec = example_spec(++seed);
    Sample part;
    part.id = database.store.begin_sample(database.session, spec, key_of(spec));
    double t_s = 0;
    for (auto _ : state) {
        state.PauseTiming();
        t_s += 0.25;
        part.events.assign(10, {t_s, "commit", 0, {{"step", 1}}});
        part.series_data = {{"loss", "nat", {}, {t_s}, {1 / t_s}, true}};
        database.store.add_to_sample(part);
        state.ResumeTiming();
        cursor = reader.changes_since(cursor).next;
    }
}
BENCHMARK(a_batch_of_a_running_sample)
    ->Arg(10)
    ->Arg(10'000)
    ->Iterations(500)
    ->Unit(benchmark::kMicrosecond);

void a_finished_sample(benchmark::State& state) {
    Filled& database = database_of(state.range(0));
    const Store reader = database.reader();
    Cursor cursor = reader.changes_since(reader.before_what_runs()).next;
    static std::uint64_t seed = 2'000'000;
    for (auto _ : state) {
        state.PauseTiming();
        database.add(++seed);
        state.ResumeTiming();
        cursor = reader.changes_since(cursor).next;
    }
}
BENCHMARK(a_finished_sample)->Arg(10)->Arg(10'000)->Iterations(200)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace assay::store::testing

BENCHMARK_MAIN();
