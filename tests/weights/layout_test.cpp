// The order of a version, and what its digest is of.
#include "impls/weights/layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <vector>

namespace assay::weights {
namespace {

using Shapes = std::vector<nn::NamedShape>;

TEST(WeightsLayout, NamesAreInByteOrder) {
    Shapes shapes{{"layer10", {2, 3}}, {"layer2", {}},      {"a\xc3\xa9", {4}},
                  {"az", {1, 0, 7}},   {"Z", {1, 1, 1, 2}}, {"a", {5}}};
    const Layout layout(shapes);
    std::vector<std::string> names;
    std::vector<std::uint64_t> firsts;
    for (const LaidTensor& tensor : layout.tensors()) {
        names.push_back(tensor.name);
        firsts.push_back(tensor.first);
    }
    EXPECT_EQ(names, (std::vector<std::string>{"Z", "a", "az", "a\xc3\xa9", "layer10", "layer2"}));
    EXPECT_EQ(firsts, (std::vector<std::uint64_t>{0, 2, 7, 7, 11, 17}));
    EXPECT_EQ(layout.elements(), 18U);
    EXPECT_EQ(layout.bytes(), 36U);
    std::ranges::reverse(shapes);
    EXPECT_EQ(Layout(shapes), layout);
    EXPECT_EQ(Layout().elements(), 0U);
}

TEST(WeightsLayout, RefusesWhatIsNone) {
    EXPECT_THROW(Layout(Shapes{{"a", {1}}, {"b", {1}}, {"a", {2}}}), std::invalid_argument);
    EXPECT_THROW(Layout(Shapes{{"a", {2, -1}}}), std::invalid_argument);
    const std::int64_t large = std::int64_t{1} << 62;
    EXPECT_EQ(Layout(Shapes{{"a", {large}}}).bytes(), std::uint64_t{1} << 63);
    EXPECT_THROW(Layout(Shapes{{"a", {large}}, {"b", {large}}}), std::invalid_argument);
    EXPECT_THROW(Layout(Shapes{{"a", {large, 4}}}), std::invalid_argument);
    EXPECT_EQ(Layout(Shapes{{"a", {large, 0, 4}}}).elements(), 0U);
}

TEST(WeightsLayout, SaysWhatDiffers) {
    const Layout wanted(Shapes{{"a", {2, 3}}, {"b", {4}}});
    const auto found = [&](const Shapes& shapes) { return difference(wanted, Layout(shapes)); };
    EXPECT_EQ(found({{"b", {4}}, {"a", {2, 3}}}), "");
    EXPECT_EQ(found({{"a", {3, 2}}, {"b", {4}}}), "tensor \"a\" has the shape [3, 2], not [2, 3]");
    EXPECT_EQ(found({{"a", {2, 3, 1}}, {"b", {4}}}),
              "tensor \"a\" has the shape [2, 3, 1], not [2, 3]");
    EXPECT_EQ(found({{"a", {2, 3}}}), "tensor \"b\" is missing");
    EXPECT_EQ(found({{"b", {4}}}), "tensor \"a\" is missing");
    EXPECT_EQ(found({{"a", {2, 3}}, {"c", {4}}}), "tensor \"b\" is missing");
    EXPECT_EQ(found({{"a", {2, 3}}, {"b", {4}}, {"c", {1}}}), "there is one tensor more, \"c\"");
    EXPECT_EQ(found({{"A", {1}}, {"a", {2, 3}}, {"b", {4}}}), "there is one tensor more, \"A\"");
    EXPECT_EQ(found({{"a", {2, 3}}, {"a2", {9}}, {"b", {4}}}), "there is one tensor more, \"a2\"");
    EXPECT_EQ(difference(Layout(), Layout()), "");
}

TEST(WeightsLayout, DigestsAreSha256) {
    EXPECT_EQ(digest_of({}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    const std::vector<std::byte> abc{std::byte{'a'}, std::byte{'b'}, std::byte{'c'}};
    EXPECT_EQ(digest_of(abc), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace assay::weights
