// The lines between a sample's process and the runner.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "suite/runner/sample/sample_protocol.hpp"

namespace assay::runner {
namespace {

using ::testing::ElementsAre;

template <typename T>
T round_trip(const T& message) {
    const std::string line = encode(message);
    EXPECT_EQ(line.find('\n'), line.size() - 1) << "one line";
    return std::get<T>(decode(line));
}

TEST(SampleProtocol, MetricsKeepEveryBitAndTheTypesOfLabels) {
    const store::MetricValue metric{
        "p", {{"a", std::int64_t{4}}, {"b", 4.0}, {"c", std::string("4")}}, 0.1 + 0.2};
    const store::MetricValue back = round_trip(metric);
    EXPECT_EQ(back.name, "p");
    EXPECT_EQ(back.labels, metric.labels);
    EXPECT_EQ(back.value, 0.1 + 0.2);
}

TEST(SampleProtocol, EverythingElseComesBack) {
    const store::Event event = round_trip(store::Event{1.5, "death", 3, {{"how", "signal 9"}}});
    EXPECT_EQ(event.kind, "death");
    EXPECT_EQ(event.rank, 3);
    EXPECT_EQ(event.detail.at("how"), "signal 9");
    const store::TimeSeries series =
        round_trip(store::TimeSeries{"loss", "nat", {}, {0, 1}, {2, std::nan("")}});
    EXPECT_THAT(series.t_s, ElementsAre(0, 1));
    EXPECT_EQ(series.values[0], 2);
    EXPECT_TRUE(std::isnan(series.values[1])) << "a gap in a curve";
    EXPECT_FALSE(series.grows);
    EXPECT_TRUE(round_trip(store::TimeSeries{"loss", "nat", {}, {0}, {2}, true}).grows);
    const store::Table table =
        round_trip(store::Table{"t", {{"a", "s"}}, {{Value(1.0)}, {Value(std::string("x"))}}});
    EXPECT_EQ(table.columns[0].unit, "s");
    EXPECT_EQ(table.rows[0][0], Value(1.0));
    const std::string bytes("\0\xff\n\"", 4);
    EXPECT_EQ(round_trip(store::Artifact{"f", "text/plain", bytes}).bytes, bytes);
    EXPECT_EQ(round_trip(Progress{0.5, "half"}).what, "half");
    const End end = round_trip(End{SampleStatus::unsupported, "no GPU"});
    EXPECT_EQ(end.status, SampleStatus::unsupported);
    EXPECT_EQ(end.reason, "no GPU");
}

TEST(SampleProtocol, TextThatIsNotUtf8DoesNotBreakALine) {
    EXPECT_EQ(round_trip(End{SampleStatus::failed, "bad \xff byte"}).reason,
              "bad \xEF\xBF\xBD byte");
}

TEST(SampleProtocol, WrongLinesNameWhatIsWrong) {
    const auto complaint = [](const char* line) -> std::string {
        try {
            decode(line);
        } catch (const ProtocolError& error) {
            return error.what();
        }
        return "accepted";
    };
    EXPECT_EQ(complaint("{"), "not a JSON object: '{'");
    EXPECT_EQ(complaint((R"({"kind":"event","detail":{"a":)" + std::string(100000, '[')).c_str()),
              "nested more than 100 deep");
    EXPECT_EQ(complaint("[1]"), "not a JSON object: '[1]'");
    EXPECT_EQ(complaint("{}"), "line of kind '': 'kind' is missing");
    EXPECT_EQ(complaint(R"({"kind":"dance"})"), "unknown kind of line 'dance'");
    EXPECT_EQ(complaint(R"({"kind":"metric","name":"x","labels":{},"value":null})"),
              "line of kind 'metric': 'value' is not a number");
    EXPECT_EQ(
        complaint(R"({"kind":"metric","name":"x","labels":{"a":[]},"value":1})").substr(0, 32),
        "line of kind 'metric': 'labels' ");
    EXPECT_EQ(complaint(R"({"kind":"event","event":"x","t_s":0,"rank":-2,"detail":{}})"),
              "line of kind 'event': 'rank' is not a rank");
    EXPECT_EQ(
        complaint(R"({"kind":"series","name":"x","unit":"","labels":{},"t_s":[1],"values":[]})"),
        "line of kind 'series': 'values' are not as many as the times");
    EXPECT_EQ(
        complaint(
            R"({"kind":"series","name":"x","unit":"","labels":{},"t_s":[],"values":[],"grows":1})"),
        "line of kind 'series': 'grows' is neither true nor false");
    EXPECT_EQ(complaint(R"({"kind":"table","name":"x","columns":[],"rows":[[1]]})"),
              "line of kind 'table': 'rows' do not match the columns");
    EXPECT_EQ(complaint(R"({"kind":"end","status":"running","reason":""})"),
              "line of kind 'end': 'status' is not one that a sample can end with");
    EXPECT_EQ(complaint(R"({"kind":"artifact","name":"x","media_type":"","base64":"A==="})"),
              "line of kind 'artifact': 'base64' is not base64");
}

TEST(SampleProtocol, LinesAreCutWhereverTheBytesArrive) {
    const std::string stream = "one\n\ntwo\nthree";
    for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
        LineSplitter splitter;
        std::vector<std::string> lines;
        const auto take = [&](std::string_view line) { lines.emplace_back(line); };
        splitter.feed(std::string_view(stream).substr(0, cut), take);
        splitter.feed(std::string_view(stream).substr(cut), take);
        EXPECT_THAT(lines, ElementsAre("one", "two")) << "cut at " << cut;
        EXPECT_EQ(splitter.rest(), "three");
    }
}

TEST(SampleProtocol, AnEndlessLineIsAnError) {
    LineSplitter splitter(100);
    const auto ignore = [](std::string_view) {};
    splitter.feed(std::string(100, 'x'), ignore);
    splitter.feed("\n" + std::string(100, 'x'), ignore);
    EXPECT_THROW(splitter.feed("x", ignore), ProtocolError);
}

}  // namespace
}  // namespace assay::runner
