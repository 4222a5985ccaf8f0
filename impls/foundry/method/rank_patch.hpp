// Graphs of one rank made those of another: ranks of one program launch the same kernels, and their
// graphs differ only in what belongs to a rank (specification 3.10). So one process saves, as one
// rank, and each rank of a server takes its own graphs out of that archive.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "impls/foundry/method/graphs/graph.hpp"
#include "suite/base/describe.hpp"

namespace assay::foundry {

/// A place in a kernel's parameters that holds what belongs to a rank. Places are named, not found
/// by value: a table of all ranks' memory begins with an address of rank 0's, which is the same in
/// each rank.
struct RankWord {
    enum class Holds {
        rank,         ///< its number, in 32 bits
        own_address,  ///< an address in its own heap, in 64 bits
    };
    std::string kernel;        ///< mangled name
    std::uint32_t offset = 0;  ///< bytes
    Holds holds{};

    bool operator==(const RankWord&) const = default;
};
ASSAY_NAMES(RankWord::Holds, rank, own_address)

/// Of which rank graphs are, and where another one's are other. Rank r's heap is at
/// [heap + r · stride, heap + (r + 1) · stride) in each process.
struct RankTags {
    int rank = 0, ranks = 1;
    std::uint64_t heap = 0, stride = 0;
    std::vector<RankWord> words;

    bool operator==(const RankTags&) const = default;
};

/// What of these tags cannot be, for whoever reads them from a file; empty: they can.
std::string mistake(const RankTags& tags);

/// Makes a graph that of `rank` of `ranks`. Returns how many 32-bit words of parameters changed.
/// Throws UserError, and the graph is then of no use, for a rank that the graphs have none of,
/// another number of ranks, a word outside its kernel's parameters, and one that does not hold what
/// the tags say.
std::size_t patch_rank(Graph& graph, const RankTags& tags, int rank, int ranks);

}  // namespace assay::foundry
