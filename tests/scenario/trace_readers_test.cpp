// Availability traces from their three forms: what is read, and what errors say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "suite/scenario/traces/availability_trace.hpp"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TraceEvent plus(double t_s, const std::string& node) { return {t_s, true, node}; }
TraceEvent minus(double t_s, const std::string& node) { return {t_s, false, node}; }

template <class Read>
std::string complaint(Read read, const std::string& text, const std::string& file) {
    try {
        read(text, file);
    } catch (const TraceError& error) {
        return error.what();
    }
    return "accepted";
}

std::string csv(const std::string& text) { return complaint(read_bamboo_csv, text, "t.csv"); }
std::string json(const std::string& text) { return complaint(read_skypilot_json, text, "t.json"); }
std::string toml(const std::string& text) { return complaint(read_trace_toml, text, "t.toml"); }

TEST(BambooCsv, ReadsEventsInOrderAndToleratesBlankLinesAndCrLf) {
    const AvailabilityTrace trace = read_bamboo_csv(
        "0,add,a\r\n\r\n0,add,b\n  \n1500,remove,a\n1500,add,c\n90000,add,a", "dir/x.csv");
    EXPECT_EQ(trace.id, "x");
    EXPECT_EQ(trace.duration_s, 90);
    EXPECT_THAT(trace.events, ElementsAre(plus(0, "a"), plus(0, "b"), minus(1.5, "a"),
                                          plus(1.5, "c"), plus(90, "a")));
}

TEST(BambooCsv, NamesTheLineOfWhatIsWrong) {
    EXPECT_EQ(csv(""),
              "t.csv:1: no events; expected lines of the form milliseconds,add|remove,node");
    EXPECT_EQ(csv("0,add,a\n\n5,add\n"),
              "t.csv:3: expected 3 fields, milliseconds,add|remove,node");
    EXPECT_THAT(csv("0,add,a,b"), HasSubstr("t.csv:1: expected 3 fields"));
    EXPECT_EQ(csv("0,add,a\nsoon,add,b"),
              "t.csv:2: the time 'soon' is not a whole number of milliseconds from 0 to 1e12");
    for (const char* time :
         {"-1", "1.5", "", " 1", "nan", "100000000000001", "9999999999999999999"})
        EXPECT_THAT(csv(std::string(time) + ",add,a"), HasSubstr("t.csv:1: the time '")) << time;
    EXPECT_EQ(csv("1000000000000,add,a"), "accepted");
    EXPECT_EQ(csv("5,add,a\r\n4,add,b"),
              "t.csv:2: the time 4 ms is before that of the event above");
    EXPECT_EQ(csv("0,join,a"), "t.csv:1: unknown action 'join'; known are add, remove");
    EXPECT_EQ(csv("0,add,a\n1,add,a"), "t.csv:2: node 'a' is added, but it is there already");
    EXPECT_EQ(csv("0,add,a\n1,remove,b"), "t.csv:2: node 'b' is removed, but it is not there");
    EXPECT_EQ(csv("0,add,a\n1,remove,a\n2,remove,a"),
              "t.csv:3: node 'a' is removed, but it is not there");
    EXPECT_EQ(csv("0,add,"), "t.csv:1: the node has no name");
    EXPECT_EQ(csv("0,add,a\xff"),
              "t.csv:1: the node's name has letters that are not printable ASCII");
}

TEST(BambooCsv, UnixTimesCountFromTheFirst) {
    const auto expected = ElementsAre(plus(0, "a"), minus(60, "a"), plus(600, "b"));
    const AvailabilityTrace seconds =
        read_bamboo_csv("1600000000,add,a\n1600000060,remove,a\n1600000600,add,b\n", "t.csv");
    EXPECT_THAT(seconds.events, expected);
    EXPECT_EQ(seconds.duration_s, 600);
    EXPECT_THAT(seconds.says, HasSubstr("its times are Unix seconds, counted from the first"));
    const AvailabilityTrace milliseconds = read_bamboo_csv(
        "1600000000000,add,a\n1600000060000,remove,a\n1600000600000,add,b\n", "t.csv");
    EXPECT_THAT(milliseconds.events, expected);
    EXPECT_THAT(milliseconds.says, HasSubstr("Unix milliseconds"));
    EXPECT_EQ(csv("1600000000,add,a\n1599999999,add,b"),
              "t.csv:2: the time 1599999999 s is before that of the event above");
    EXPECT_THAT(csv("1600000000,add,a\n1600000000000,add,b"), HasSubstr("t.csv:2: the time '16"));
    const AvailabilityTrace late = read_bamboo_csv("5000,add,a\n1600000000,add,b", "t.csv");
    EXPECT_EQ(late.events.front().t_s, 5) << "since the start";
}

TEST(BambooCsv, AByteOrderMarkIsNoText) {
    EXPECT_EQ(csv("\xef\xbb\xbf"
                  "0,add,a"),
              "accepted");
    EXPECT_EQ(json("\xef\xbb\xbf{\"metadata\": {\"gap_seconds\": 60}, \"data\": [1]}"), "accepted");
    EXPECT_EQ(toml("\xef\xbb\xbfsays = 'x'\nduration_s = 9\n[[change]]\nat_s = 0\nadd = 2\n"),
              "accepted");
}

TEST(SkypilotJson, TheYoungestLeavesFirst) {
    const AvailabilityTrace trace = read_skypilot_json(
        R"({"metadata": {"instance": {"gap_seconds": 9}, "gap_seconds": 60.5, "zones": ["a"]},
            "data": [2, 2, 3, 1, 2.0, false], "more": [[1], {"data": "x"}]})",
        "zone.json");
    EXPECT_EQ(trace.id, "zone");
    EXPECT_EQ(trace.duration_s, 6 * 60.5);
    EXPECT_THAT(trace.events,
                ElementsAre(plus(0, "node1"), plus(0, "node2"), plus(121, "node3"),
                            minus(181.5, "node3"), minus(181.5, "node2"), plus(242, "node4"),
                            minus(302.5, "node4"), minus(302.5, "node1")));
}

TEST(SkypilotJson, NamesTheLineOfWhatIsWrong) {
    const std::string head = "{\"metadata\": {\"gap_seconds\": 60},\n\"data\": [";
    EXPECT_EQ(json(head + "1]}"), "accepted");
    EXPECT_EQ(json(head + "1,\n2,\n-1\n]}"),
              "t.json:4: data[2] is not a whole number of nodes from 0 to 10000");
    EXPECT_EQ(json(head + "0.5]}"),
              "t.json:2: data[0] is not a whole number of nodes from 0 to 10000");
    EXPECT_THAT(json(head + "99999999999999999999]}"), HasSubstr("t.json:2: data[0] is not"));
    EXPECT_EQ(json(head + "1,\nnull]}"), "t.json:3: data[1] is null, not a number of nodes");
    EXPECT_EQ(json(head + "1,\n[2]]}"), "t.json:3: data[1] is an array, not a number of nodes");
    EXPECT_EQ(json(head + "{}]}"), "t.json:2: data[0] is an object, not a number of nodes");
    EXPECT_THAT(json(head + "1,\n2\n"),
                HasSubstr("t.json:4: not valid JSON: syntax error while parsing array"));
    EXPECT_EQ(json(head + "]}"),
              "t.json:2: 'data' is missing or empty; expected one number per interval");
    EXPECT_EQ(json("{\"data\": [1]}"),
              "t.json:1: metadata lacks 'gap_seconds', the length of an interval");
    EXPECT_EQ(json("{\"metadata\": {\n\"gap_seconds\": 0\n}}"),
              "t.json:2: 'gap_seconds' must be above 0 and at most 1e9");
    EXPECT_EQ(json("{\"metadata\":\n{\"gap_seconds\": \"60\"}}"),
              "t.json:2: 'gap_seconds' is a text, not a number");
    EXPECT_EQ(json("{\"metadata\": 3}"), "t.json:1: 'metadata' is a number, not an object");
    EXPECT_EQ(json("{\"data\": {}}"), "t.json:1: 'data' is an object, not an array");
    EXPECT_EQ(json("{\"data\": [],\n\"data\": []}"), "t.json:2: 'data' is there twice");
    EXPECT_EQ(json("{\"metadata\": {\"gap_seconds\": 60,\n\"gap_seconds\": 5}}"),
              "t.json:2: 'gap_seconds' is there twice");
    EXPECT_EQ(json("{\"more\": [{\"a\": 1, \"b\": {\"a\": 1}}, {\"a\": 1,\n\"a\": 1}]}"),
              "t.json:2: 'a' is there twice");
    EXPECT_THAT(json(head + "1e400]}"), HasSubstr("the number 1e400 is too large"));
    EXPECT_THAT(json("[1, 2]"), HasSubstr("t.json:1: an array where {\"metadata\""));
    EXPECT_THAT(json(""), HasSubstr("t.json:1: not valid JSON"));
}

TEST(TraceToml, ReadsCountsAndNames) {
    const AvailabilityTrace trace = read_trace_toml(R"(
says = "three and their fate"
duration_s = 100
[[change]]
at_s = 0
add = 3
nodes = ["x"]
[[change]]
at_s = 1.5
remove = 2
nodes = ["x"]
[[change]]
at_s = 1.5
add = 1
)",
                                                    "own.toml");
    EXPECT_EQ(trace.id, "own");
    EXPECT_EQ(trace.says, "three and their fate");
    EXPECT_EQ(trace.duration_s, 100);
    EXPECT_THAT(trace.events,
                ElementsAre(plus(0, "x"), plus(0, "node2"), plus(0, "node3"), minus(1.5, "x"),
                            minus(1.5, "node3"), plus(1.5, "node4")));
}

TEST(TraceToml, GivenNamesAreNeverGivenAgain) {
    const AvailabilityTrace trace = read_trace_toml(
        "says = 'x'\nduration_s = 9\n[[change]]\nat_s = 0\nadd = 2\nnodes = ['node2']\n"
        "[[change]]\nat_s = 1\nremove = 1\nnodes = ['node2']\n[[change]]\nat_s = 2\nadd = 1",
        "t.toml");
    EXPECT_THAT(trace.events, ElementsAre(plus(0, "node2"), plus(0, "node3"), minus(1, "node2"),
                                          plus(2, "node4")));
}

TEST(TraceToml, NamesTheLineOfWhatIsWrong) {
    const std::string head = "says = 'x'\nduration_s = 10\n[[change]]\n";
    EXPECT_EQ(toml(head + "at_s = 0\nadd = 1"), "accepted");
    EXPECT_EQ(toml("duration_s = 1"), "t.toml:1:1: trace lacks 'says'");
    EXPECT_EQ(toml("says = 'x'"), "t.toml:1:1: trace lacks 'duration_s'");
    EXPECT_EQ(toml("says = 'x'\nduration_s = -1"),
              "t.toml:2:14: trace: 'duration_s' must be a number of seconds from 0 to 1000000000");
    EXPECT_EQ(toml(head + "at_s = 11\nadd = 1"),
              "t.toml:4:8: [[change]]: 'at_s' must be a number of seconds from 0 to 10");
    EXPECT_EQ(toml(head + "at_s = 2\nadd = 1\n[[change]]\nat_s = 1\nadd = 1"),
              "t.toml:7:8: [[change]]: 'at_s' is before that of the change above");
    EXPECT_EQ(toml(head + "at_s = 0"), "t.toml:3:1: [[change]] needs one of 'add' and 'remove'");
    EXPECT_THAT(toml(head + "at_s = 0\nadd = 1\nremove = 1"), HasSubstr("needs one of"));
    EXPECT_EQ(toml(head + "at_s = 0\nadd = 0"),
              "t.toml:5:7: [[change]]: 'add' must be a whole number from 1 to 10000");
    EXPECT_EQ(toml(head + "at_s = 0\nremove = 1"),
              "t.toml:5:10: [[change]]: 'remove' cannot be: a node is removed, but none is there");
    EXPECT_EQ(toml(head + "at_s = 0\nadd = 1\nnodes = ['a', 'b']"),
              "t.toml:6:9: [[change]]: 'nodes' names 2 nodes of 1");
    EXPECT_EQ(toml(head + "at_s = 0\nadd = 2\nnodes = ['a', 'a']"),
              "t.toml:6:9: [[change]]: 'nodes' cannot be: node 'a' is added, but it is there "
              "already");
    EXPECT_EQ(toml(head + "at_s = 0\nadd = 1\nname = 'a'"),
              "t.toml:6:8: [[change]]: 'name' is not a known key; known are: add, at_s, nodes, "
              "remove");
    EXPECT_THAT(toml(head + "at_s = \n"), HasSubstr("t.toml:4:8: not valid TOML:"));
}

TEST(TraceToml, WhatIsWrittenIsReadBack) {
    AvailabilityTrace odd;
    odd.id = "odd";
    odd.says = "quotes \" and \\ and\ta tab \x7f and ü";
    odd.duration_s = 0.1 + 0.2;
    odd.events = {plus(0, "b"), plus(0, "a \"q\""), minus(1e-7, "b"), plus(1e-7, "b"),
                  plus(0.3, "node1")};
    EXPECT_EQ(read_trace_toml(to_toml(odd), "odd.toml"), odd);
    TraceProcess process;
    process.hours = 20;
    AvailabilityTrace generated = generate_trace(process);
    ASSERT_GT(generated.events.size(), 12U);
    EXPECT_EQ(read_trace_toml(to_toml(generated), generated.id + ".toml"), generated);
}

TEST(AvailabilityTraceById, FindsShippedOnesAndFilesAndNamesWhatItKnows) {
    const AvailabilityTrace shipped = availability_trace("p3-80min");
    EXPECT_EQ(shipped.id, "p3-80min");
    EXPECT_EQ(shipped, availability_trace(ASSAY_TEST_DATASETS "/traces/p3-80min.toml"));
    const auto complaint = [](const std::string& name) -> std::string {
        try {
            availability_trace(name);
        } catch (const UserError& error) {
            return error.what();
        }
        return "accepted";
    };
    EXPECT_THAT(complaint("p3-8omin"), HasSubstr("did you mean 'p3-80min'?"));
    EXPECT_EQ(complaint("no/such.csv"), "no/such.csv: No such file or directory");
    EXPECT_THAT(complaint("some/trace.txt"), HasSubstr("a trace ends in .csv"));
    EXPECT_THAT(complaint(ASSAY_TEST_DATASETS "/"), HasSubstr("a trace ends in"));
}

}  // namespace
}  // namespace assay
