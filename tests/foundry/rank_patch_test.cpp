// Graphs of one rank made those of another, and what an archive says of ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "impls/foundry/method/archive/archive.hpp"
#include "impls/foundry/method/archive/byte_stream.hpp"
#include "suite/base/error.hpp"

namespace assay::foundry {
namespace {

using testing::HasSubstr;
using Holds = RankWord::Holds;

constexpr std::uint64_t heap = 0x7000'0000'0000, stride = 0x2000'0000;

/// {own address, all ranks' heaps, rank, ranks} of rank 2's.
struct Params {
    std::uint64_t own = heap + 2 * stride + 0x40, first = heap;
    std::int32_t rank = 2, ranks = 4;
};
Graph graph(const Params& params = {}) {
    Node kernel{.type = NodeType::kernel, .launch = {.name = "sum", .params = {}}};
    kernel.launch.params.resize(sizeof params);
    std::memcpy(kernel.launch.params.data(), &params, sizeof params);
    Node other = kernel;
    other.launch.name = "other";
    return {.batch = 1, .nodes = {other, kernel, {.type = NodeType::empty}, kernel}, .edges = {}};
}
RankTags tags() {
    return {.rank = 2,
            .ranks = 4,
            .heap = heap,
            .stride = stride,
            .words = {{"sum", 0, Holds::own_address}, {"sum", 16, Holds::rank}}};
}
std::string refusal(const RankTags& of, int rank, int ranks, Graph patched = graph()) {
    try {
        patch_rank(patched, of, rank, ranks);
    } catch (const UserError& error) {
        return error.what();
    }
    return {};
}

TEST(RankPatch, ChangesTheTaggedWordsOfTheTaggedKernel) {
    for (const int rank : {0, 1, 2, 3}) {
        Graph patched = graph(), expected = graph();
        // In each of two kernels the number, and the lower half of the address.
        EXPECT_EQ(patch_rank(patched, tags(), rank, 4), rank == 2 ? 0U : 4U);
        const Params params{.own = heap + static_cast<std::uint64_t>(rank) * stride + 0x40,
                            .rank = rank};
        for (const std::size_t node : {1, 3})
            std::memcpy(expected.nodes[node].launch.params.data(), &params, sizeof params);
        EXPECT_EQ(patched, expected) << rank;
    }
}

TEST(RankPatch, CountsBothHalvesOfAnAddressThatCarries) {
    RankTags carries = tags();
    carries.stride = std::uint64_t{1} << 33 | 1 << 21;
    Graph patched = graph({.own = heap + 2 * carries.stride});
    EXPECT_EQ(patch_rank(patched, carries, 3, 4), 6U);
}

TEST(RankPatch, RefusesWhatItsTagsDoNotFit) {
    EXPECT_EQ(refusal(tags(), 3, 4), "");
    EXPECT_THAT(refusal(tags(), 4, 4), HasSubstr("no rank 4 of 4"));
    EXPECT_THAT(refusal(tags(), -1, 4), HasSubstr("no rank -1 of 4"));
    EXPECT_THAT(refusal(tags(), 1, 2), HasSubstr("of 4 ranks, and not of 2"));
    EXPECT_THAT(refusal(tags(), 1, 4, graph({.rank = 1})), HasSubstr("is 1, and not the number"));
    EXPECT_THAT(refusal(tags(), 1, 4, graph({.own = heap + 2 * stride - 1})),
                HasSubstr("not an address in rank 2's heap"));
    EXPECT_THAT(refusal(tags(), 1, 4, graph({.own = heap + 3 * stride})),
                HasSubstr("not an address in rank 2's heap"));
    for (const auto& [offset, holds, outside] : {std::tuple(17U, Holds::own_address, true),
                                                 {16U, Holds::own_address, false},
                                                 {21U, Holds::rank, true},
                                                 {20U, Holds::rank, false},
                                                 {0xffffffffU, Holds::rank, true}}) {
        RankTags elsewhere = tags();
        elsewhere.words = {{"sum", offset, holds}};
        EXPECT_EQ(refusal(elsewhere, 1, 4).find("outside its 24 bytes") != std::string::npos,
                  outside)
            << offset;
    }
    Graph without = graph();
    for (Node& node : without.nodes) node.launch.params.clear();
    EXPECT_THAT(refusal(tags(), 1, 4, without), HasSubstr("outside its 0 bytes"));
}

TEST(RankTags, AreInTheManifestOfSeveralRanksAlone) {
    const GraphEncoder none;
    EXPECT_THAT(to_text({}, none), testing::Not(HasSubstr("rank")));
    EXPECT_FALSE(read_manifest(to_text({}, none), "m").ranks);
    EXPECT_EQ(read_manifest(to_text({.ranks = tags()}, none), "m").ranks, tags());
}

TEST(RankTags, ThatCannotBeAreADamagedArchive) {
    const std::string text = to_text({.ranks = tags()}, GraphEncoder());
    const auto changed = [&](const std::string& from, const std::string& to) {
        std::string other = text;
        EXPECT_NE(other.find(from), other.npos) << from;
        return other.replace(other.find(from), from.size(), to);
    };
    const std::string heap_text = std::to_string(heap), stride_text = std::to_string(stride);
    for (const auto& [from, to] : {std::pair<std::string, std::string>{"\"rank\":2", "\"rank\":4"},
                                   {"\"rank\":2", "\"rank\":-1"},
                                   {"\"rank\":2", "\"rank\":4294967298"},
                                   {"\"rank\":2", "\"rank\":2.0"},
                                   {"\"rank\":2", "\"runk\":2"},
                                   {"\"ranks\":4", "\"ranks\":1"},
                                   {"\"ranks\":4", "\"ranks\":null"},
                                   {stride_text, "0"},
                                   {stride_text, "9223372036854775807"},
                                   {heap_text, "18446744073709551615"},
                                   {"\"own_address\"", "\"address\""},
                                   {"\"own_address\"", "7"},
                                   {"[\"sum\",16,", "[\"sum\",4294967312,"},
                                   {"[\"sum\",16,", "[17,16,"},
                                   {"[\"sum\",16,", "[\"sum\","},
                                   {"{\"rank\"", "[{\"rank\""}})
        EXPECT_THROW(read_manifest(changed(from, to), "manifest.json"), DamagedArchive)
            << from << " " << to;
}

}  // namespace
}  // namespace assay::foundry
