// What a sample writes to the runner, and when: what somebody may follow at once, what comes in
// thousands together.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "suite/base/process.hpp"
#include "suite/runner/sample/pipe_recorder.hpp"
#include "tests/runner/dummy_system.hpp"

namespace assay::runner {
namespace {

class PipeRecorderTest : public ::testing::Test {
  protected:
    PipeRecorderTest() { ::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK); }

    /// What arrived since the last call.
    std::vector<Message> arrived() {
        std::vector<Message> messages;
        char bytes[65536];
        for (ssize_t count; (count = ::read(pipe.read.get(), bytes, sizeof bytes)) > 0;)
            splitter.feed({bytes, static_cast<std::size_t>(count)},
                          [&](std::string_view line) { messages.push_back(decode(line)); });
        return messages;
    }

    Pipe pipe;
    LineSplitter splitter;
    Registry registry = assay::testing::make_dummy_registry();
    PipeRecorder recorder{*registry.experiment("dummy/sum"), Provenance::exact, pipe.write.get()};
    const std::vector<double> one{1}, two{1, 2};
};

TEST_F(PipeRecorderTest, ACurveThatGrowsIsWrittenAtOnce) {
    recorder.time_series("whole", "s", one, one, {});
    EXPECT_EQ(arrived().size(), 0u) << "nobody can have waited for it";
    recorder.append_series("loss", "nat", two, two, {{"rank", std::int64_t{1}}});
    const std::vector<Message> messages = arrived();
    ASSERT_EQ(messages.size(), 2u) << "in order";
    EXPECT_FALSE(std::get<store::TimeSeries>(messages[0]).grows);
    const auto& piece = std::get<store::TimeSeries>(messages[1]);
    EXPECT_TRUE(piece.grows);
    EXPECT_EQ(piece.values, two);
    EXPECT_THROW(recorder.append_series("loss", "nat", two, one, {}), std::logic_error);
}

TEST_F(PipeRecorderTest, MetricsAreGatheredButNotForLong) {
    using namespace std::chrono_literals;
    recorder.event("commit", 0, -1, {});
    recorder.metric("total", 1, {});
    EXPECT_EQ(arrived().size(), 1u) << "the event";
    std::this_thread::sleep_for(150ms);
    EXPECT_EQ(arrived().size(), 0u);
    recorder.metric("term", 1, {{"i", std::int64_t{1}}});
    EXPECT_EQ(arrived().size(), 2u);
    recorder.metric("term", 2, {{"i", std::int64_t{2}}});
    EXPECT_EQ(arrived().size(), 0u);
    recorder.end(SampleStatus::ok, "");
    EXPECT_EQ(arrived().size(), 2u);
}

TEST_F(PipeRecorderTest, WhatIsNotDeclaredIsTakenWhereAnyMetricIs) {
    EXPECT_THROW(recorder.metric("GFLOPS", 1, {}), std::logic_error);
    Experiment experiment = *registry.experiment("dummy/sum");
    experiment.metrics.push_back({.name = std::string(any_metric), .labels = {"benchmark"}});
    PipeRecorder open(experiment, Provenance::exact, pipe.write.get());
    open.metric("GFLOPS", 1, {{"benchmark", "BM"}});
    EXPECT_THROW(open.metric("GFLOPS", 1, {{"other", "BM"}}), std::logic_error);
    EXPECT_EQ(declared_metric(experiment, "total")->name, "total");
}

}  // namespace
}  // namespace assay::runner
