// Format checks: right files pass, wrong ones are refused with the line.
#include "suite/data/check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace assay::data {
namespace {

std::string verdict(const std::string& bytes, const char* format) {
    std::istringstream in(bytes);
    try {
        suite_formats().at(format)(in);
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

TEST(Formats, NodeTrace) {
    const auto trace = [](const std::string& rows) { return verdict(rows, "node_trace"); };
    EXPECT_EQ(trace("0,add,a\n0,add,b\n60000,remove,a\n70000,add,a\n"), "right");
    EXPECT_EQ(trace("0,add,a\n5,add,a\n"), "line 2: node a joins but is already there");
    EXPECT_EQ(trace("0,add,a\n5,remove,b\n"), "line 2: node b leaves but is not there");
    EXPECT_EQ(trace("5,add,a\n4,add,b\n"), "line 2: times must not decrease");
    EXPECT_EQ(trace("0,join,a\n"), "line 1: \"join\" is neither add nor remove");
    EXPECT_EQ(trace("0,add\n"), "line 1: expected milliseconds,add|remove,node");
    EXPECT_EQ(trace("0,add,\n"), "line 1: expected milliseconds,add|remove,node");
}

TEST(Formats, Text) {
    EXPECT_EQ(verdict("In the beginning\n", "text"), "right");
    EXPECT_EQ(verdict(std::string("one\ntw\0o\n", 9), "text"),
              "line 2: a NUL byte: this is no text");
    EXPECT_EQ(verdict("", "text"), "line 1: the file is empty");
}

TEST(Formats, Gguf) {
    EXPECT_EQ(verdict(gguf(3, 12), "gguf"), "right");
    EXPECT_EQ(verdict(gguf(2, 12), "gguf"), "right");
    EXPECT_EQ(verdict(gguf(1, 12), "gguf"), "GGUF version 1; versions 2 and 3 are read");
    EXPECT_EQ(verdict(gguf(3, 0), "gguf"), "a GGUF file without tensors");
    EXPECT_THAT(verdict(gguf(3, 12).substr(0, 20), "gguf"), testing::HasSubstr("not a GGUF"));
    EXPECT_THAT(verdict(std::string(64, 'x'), "gguf"), testing::HasSubstr("not a GGUF"));
}

}  // namespace
}  // namespace assay::data
