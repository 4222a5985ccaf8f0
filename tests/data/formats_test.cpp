// Format checks: right files pass, wrong ones are refused with the line.
#include "suite/data/check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace assay::data {
namespace {

std::string verdict(const std::string& bytes, Format format) {
    std::istringstream in(bytes);
    try {
        validate(in, format);
    } catch (const DataError& error) {
        return error.what();
    }
    return "right";
}

std::string gguf(unsigned char version, unsigned char tensors) {
    std::string bytes = "GGUF";
    bytes += std::string{static_cast<char>(version), 0, 0, 0};
    bytes += std::string{static_cast<char>(tensors), 0, 0, 0, 0, 0, 0, 0};
    return bytes + std::string(8, '\0') + "metadata";
}

TEST(Formats, ExpertLoads) {
    const std::string header = "iteration,layer,e0,e1\n";
    const auto loads = [&](const std::string& rows) {
        return verdict(header + rows, Format::expert_loads);
    };
    EXPECT_EQ(loads("1,0,3,4\n1,1,0,7\n"), "right");
    EXPECT_EQ(loads("1,0,3,4\r\n"), "right");
    EXPECT_EQ(loads("1,0,3\n"), "line 2: 3 fields where the header has 4");
    EXPECT_EQ(loads("1,0,3,4\n1,1,-2,4\n"), "line 3: \"-2\" is not a non-negative integer");
    EXPECT_EQ(loads("1,0,3,4.5\n"), "line 2: \"4.5\" is not a non-negative integer");
    EXPECT_EQ(loads("1,0,3,99999999999999999999\n"),
              "line 2: \"99999999999999999999\" is not a non-negative integer");
    EXPECT_EQ(loads(""), "line 2: no loads after the header");
    EXPECT_EQ(verdict("iteration,layer,e0,e2\n1,0,1,1\n", Format::expert_loads),
              "line 1: column 4 must be called e1");
    EXPECT_THAT(verdict("", Format::expert_loads), testing::HasSubstr("empty"));
}

TEST(Formats, NodeTrace) {
    const auto trace = [](const std::string& rows) { return verdict(rows, Format::node_trace); };
    EXPECT_EQ(trace("0,add,a\n0,add,b\n60000,remove,a\n70000,add,a\n"), "right");
    EXPECT_EQ(trace("0,add,a\n5,add,a\n"), "line 2: node a joins but is already there");
    EXPECT_EQ(trace("0,add,a\n5,remove,b\n"), "line 2: node b leaves but is not there");
    EXPECT_EQ(trace("5,add,a\n4,add,b\n"), "line 2: times must not decrease");
    EXPECT_EQ(trace("0,join,a\n"), "line 1: \"join\" is neither add nor remove");
    EXPECT_EQ(trace("0,add\n"), "line 1: expected milliseconds,add|remove,node");
    EXPECT_EQ(trace("0,add,\n"), "line 1: expected milliseconds,add|remove,node");
}

TEST(Formats, Text) {
    EXPECT_EQ(verdict("In the beginning\n", Format::text), "right");
    EXPECT_EQ(verdict(std::string("one\ntw\0o\n", 9), Format::text),
              "line 2: a NUL byte: this is no text");
    EXPECT_EQ(verdict("", Format::text), "line 1: the file is empty");
}

TEST(Formats, Gguf) {
    EXPECT_EQ(verdict(gguf(3, 12), Format::gguf), "right");
    EXPECT_EQ(verdict(gguf(2, 12), Format::gguf), "right");
    EXPECT_EQ(verdict(gguf(1, 12), Format::gguf), "GGUF version 1; versions 2 and 3 are read");
    EXPECT_EQ(verdict(gguf(3, 0), Format::gguf), "a GGUF file without tensors");
    EXPECT_THAT(verdict(gguf(3, 12).substr(0, 20), Format::gguf), testing::HasSubstr("not a GGUF"));
    EXPECT_THAT(verdict(std::string(64, 'x'), Format::gguf), testing::HasSubstr("not a GGUF"));
}

}  // namespace
}  // namespace assay::data
