#include "suite/report/row_name.hpp"

#include <gtest/gtest.h>

namespace assay::report {
namespace {

TEST(RowName, IsSeriesAndMetric) {
    EXPECT_EQ(row_name("lte/fig8 lte sparsity=0.5", "seconds step=3").text(),
              "lte/fig8 lte sparsity=0.5 · seconds step=3");
    EXPECT_EQ(row_name("lte/fig8 name=x", "real_time benchmark=a").metric, "real_time benchmark=a")
        << "of another experiment";
}

TEST(RowName, OfASuitesBenchmarkIsItsNameAndThatOfTheBenchmark) {
    const std::string series =
        "benchmark/program program arguments=--filter=a name=gemv program=gemv_benchmark";
    EXPECT_EQ(row_name(series, "real_time benchmark=cpu/avx2/1").text(),
              "benchmark/gemv cpu/avx2/1");
    EXPECT_EQ(row_name(series, "seconds").metric, "seconds") << "another metric of it";
    EXPECT_EQ(row_name("benchmark/program program arguments=--x name=y --z name=gemv program=p",
                       "real_time benchmark=b")
                  .text(),
              "benchmark/gemv b");
    store::SeriesKey key;
    key.experiment = "benchmark/program";
    key.variant = "program";
    key.axes = {{"name", "gemv"}, {"program", "gemv_benchmark"}, {"arguments", "--filter=a"}};
    EXPECT_EQ(row_name(key, {"real_time", {{"benchmark", "cpu/avx2/1"}}}).text(),
              "benchmark/gemv cpu/avx2/1");
}

}  // namespace
}  // namespace assay::report
