#include "impls/nn/text/written_tokens.hpp"

#include <gtest/gtest.h>

namespace assay::nn {
namespace {

TEST(WrittenTokens, TheFirstAndThereTheLongest) {
    WrittenTokens tokens;
    tokens.add("<a>", 1);
    tokens.add("<a>>", 2);
    tokens.add("<", 3);
    tokens.add("\xff", 4);
    const auto expect = [&](std::string_view text, std::size_t at, std::size_t bytes, int id) {
        const auto found = tokens.first(text);
        EXPECT_EQ(found.at, at) << text;
        EXPECT_EQ(found.bytes, bytes) << text;
        if (bytes) {
            EXPECT_EQ(found.id, id) << text;
        }
    };
    expect("x<a>>y", 1, 4, 2);
    expect("x<a>y", 1, 3, 1);
    expect("x<<a>", 1, 1, 3);
    expect("x\xff<a>", 1, 1, 4);
    expect("<a", 0, 1, 3);
    expect("nothing", 7, 0, 0);
    expect("", 0, 0, 0);
}

}  // namespace
}  // namespace assay::nn
