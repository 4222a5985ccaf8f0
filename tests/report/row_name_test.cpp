#include "suite/report/text/row_name.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "suite/store/ids.hpp"

namespace assay::report {
namespace {

using ::testing::Contains;
using ::testing::Not;

RowId row(Profile profile, Provenance provenance = Provenance::measured) {
    return {.experiment = "lte/fig8",
            .variant = "lte",
            .axes = {{"sparsity", 0.5}},
            .metric = "seconds",
            .labels = {{"step", std::int64_t{3}}},
            .profile = profile,
            .provenance = provenance,
            .scenario = ""};
}

RowId benchmark(const std::string& arguments) {
    return {.experiment = "benchmark/program",
            .variant = "program",
            .axes = {{"name", "gemv"}, {"program", "gemv_benchmark"}, {"arguments", arguments}},
            .metric = "real_time",
            .labels = {{"benchmark", "cpu/avx2/1"}},
            .profile = Profile::toy,
            .provenance = Provenance::measured,
            .scenario = ""};
}

std::string among(const std::vector<RowId>& all, std::size_t which) {
    return RowNames(all).of(all[which]).text();
}

TEST(RowName, IsSeriesAndMetric) {
    EXPECT_EQ(row_name(row(Profile::toy)).text(), "lte/fig8 lte sparsity=0.5 · seconds step=3");
    EXPECT_EQ(row_name(row(Profile::toy).series()).text(), "lte/fig8 lte sparsity=0.5");
    EXPECT_EQ(row_name({"", "BM_x/8", {}, "real_time"}).text(), "BM_x/8 · real_time")
        << "of a file of Google Benchmark";
}

TEST(RowName, OfASuitesBenchmarkIsItsNameAndThatOfTheBenchmark) {
    EXPECT_EQ(row_name(benchmark("--filter=a")).text(), "benchmark/gemv cpu/avx2/1");
    EXPECT_EQ(row_name(benchmark("--x name=y --z")).text(), "benchmark/gemv cpu/avx2/1")
        << "whatever the arguments look like";
    EXPECT_EQ(row_name(benchmark("-a").series()).text(), "benchmark/gemv") << "the whole program";
    EXPECT_THAT(series_spellings(benchmark("-a")), Contains("benchmark/gemv"));
    EXPECT_THAT(row_spellings(benchmark("-a")), Contains("cpu/avx2/1"))
        << "as it stands below its program in a table";
    RowId other = benchmark("");
    other.experiment = "lte/fig8";
    EXPECT_FALSE(benchmark_name(other).has_value());
    store::SeriesKey key;
    key.experiment = "benchmark/program";
    key.variant = "program";
    key.axes = benchmark("--filter=a").axes;
    EXPECT_EQ(row_name(store::row_id(key, {"real_time", {{"benchmark", "cpu/avx2/1"}}})).text(),
              "benchmark/gemv cpu/avx2/1");
}

TEST(RowName, OfACounterIsThatOfItsBenchmarkAndItsOwn) {
    RowId counter = benchmark("-a");
    counter.metric = "of_read";
    EXPECT_EQ(row_name(counter).text(), "benchmark/gemv cpu/avx2/1 · of_read");
    EXPECT_EQ(among({benchmark("-a"), counter}, 1), "benchmark/gemv cpu/avx2/1 · of_read");
    for (const char* typed : {"benchmark/gemv cpu/avx2/1 · of_read", "cpu/avx2/1 of_read",
                              "benchmark/gemv cpu/avx2/1 (toy) of_read", "benchmark/gemv"})
        EXPECT_THAT(row_spellings(counter), Contains(typed));
    EXPECT_THAT(row_spellings(counter), Not(Contains("benchmark/gemv cpu/avx2/1")))
        << "that is its time";
    counter.labels["counter"] = "GFLOPS";
    EXPECT_EQ(row_name(counter).metric, "of_read counter=GFLOPS") << "other labels stay";
}

TEST(RowName, OfAForeignBenchmarkIsOneWhateverItsRoute) {
    RowId file = {"benchmark/BM_x/8", "", {}, "real_time"};
    EXPECT_EQ(imported_benchmark(file), "BM_x/8");
    EXPECT_EQ(row_name(file).text(), "benchmark/BM_x/8 · real_time");
    for (const char* typed : {"BM_x/8", "benchmark/BM_x/8", "BM_x/8 real_time"})
        EXPECT_THAT(row_spellings(file), Contains(typed));
    EXPECT_FALSE(imported_benchmark(benchmark("")).has_value()) << "a suite's";
    RowId with_parameters = file;
    with_parameters.axes = {{"size", std::int64_t{64}}, {"type", std::string("f32")}};
    EXPECT_EQ(imported_benchmark(with_parameters), "BM_x/8 size=64 type=f32");
    file.experiment = "benchmark/program";
    EXPECT_EQ(imported_benchmark(file), "program") << "a benchmark may be called so";
}

TEST(RowName, NeverHoldsWhatDoesNotPrint) {
    const RowId hostile = {"benchmark/a\x1b[2J\n", "", {}, "m\t", {{"l", "\u202e"}}};
    EXPECT_EQ(row_name(hostile).text(), "benchmark/a\\x1b[2J\\n · m\\t l=\\u202e");
    EXPECT_THAT(row_spellings(hostile), Contains("a\\x1b[2J\\n m\\t l=\\u202e"));
    EXPECT_THAT(series_spellings(hostile), Contains(hostile.experiment)) << "typed as it is";
}

TEST(RowNames, TellWhatRowsOfOneNameDifferIn) {
    const RowId toy = row(Profile::toy), small = row(Profile::small);
    EXPECT_EQ(among({toy}, 0), "lte/fig8 lte sparsity=0.5 · seconds step=3");
    EXPECT_EQ(among({toy, small}, 0), "lte/fig8 lte sparsity=0.5 (toy) · seconds step=3");
    EXPECT_EQ(among({toy, small}, 1), "lte/fig8 lte sparsity=0.5 (small) · seconds step=3");
    EXPECT_EQ(among({toy, small, row(Profile::toy, Provenance::emulated)}, 2),
              "lte/fig8 lte sparsity=0.5 (toy, emulated) · seconds step=3");
    RowId faulty = toy, unknown = toy;
    faulty.scenario = "kill:rank=1@step=5";
    unknown.profile.reset();
    EXPECT_EQ(among({toy, faulty}, 0), "lte/fig8 lte sparsity=0.5 (no faults) · seconds step=3");
    EXPECT_EQ(among({toy, faulty}, 1),
              "lte/fig8 lte sparsity=0.5 (faults kill:rank=1@step=5) · seconds step=3");
    EXPECT_EQ(among({toy, unknown}, 1),
              "lte/fig8 lte sparsity=0.5 (unknown profile) · seconds step=3");
    EXPECT_EQ(among({toy, row(Profile::toy)}, 0), "lte/fig8 lte sparsity=0.5 · seconds step=3")
        << "the same row twice";
}

TEST(RowNames, NoTwoAreTheSame) {
    // As texts these axes are equal.
    RowId one = row(Profile::toy), two = one;
    one.axes = {{"a", "1 b=2"}};
    two.axes = {{"a", "1"}, {"b", "2"}};
    EXPECT_EQ(one.series_text(), two.series_text());
    EXPECT_EQ(among({one, two}, 0), "lte/fig8 lte {\"a\":\"1 b=2\"} · seconds {\"step\":3}");
    EXPECT_NE(among({one, two}, 0), among({one, two}, 1));
    // One benchmark called with two sets of arguments.
    EXPECT_EQ(among({benchmark("-a"), benchmark("-b")}, 0),
              "benchmark/program program arguments=-a name=gemv program=gemv_benchmark · real_time "
              "benchmark=cpu/avx2/1");
}

TEST(RowSpellings, AreWhatAnyReportMayPrint) {
    const auto all = row_spellings(row(Profile::small));
    for (const char* text :
         {"lte/fig8 lte sparsity=0.5", "lte/fig8 lte sparsity=0.5 seconds step=3",
          "lte/fig8 lte sparsity=0.5 · seconds step=3", "lte/fig8 lte sparsity=0.5 (small)",
          "lte/fig8 lte sparsity=0.5 (small, measured) · seconds step=3"})
        EXPECT_THAT(all, Contains(text));
    EXPECT_THAT(all, Not(Contains("lte/fig8 lte sparsity=0.5 (toy)")));
    EXPECT_THAT(series_spellings(benchmark("-a")), Contains("benchmark/gemv cpu/avx2/1"));
}

}  // namespace
}  // namespace assay::report
