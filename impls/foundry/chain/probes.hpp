// Questions to a driver that no document settles (specification 8.3), and what it answers. Each is
// asked of a fake driver and of a GPU's alike: the fake's answers are guesses until a GPU has given
// its own. None throws for an answer; all throw DriverError where a call fails that must not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "impls/foundry/live/device.hpp"

namespace assay::foundry {

// ---- Graphs (probe_graphs.cpp)

/// P2: which handle of its kernel a node shows. `node`: "captured by function", "captured by
/// kernel", "added by function", "added by kernel".
struct ShownHandle {
    std::string node;
    bool function = false, kernel = false;
};
std::vector<ShownHandle> shown_handles(const Device& device);

/// P4: the share of edges that read back as they were given. `edges`: "captured", of a programmatic
/// launch; "plain first" and "programmatic first", of two plain ones and a programmatic one, added
/// by one call; "one by one", added by a call each.
struct KeptEdges {
    std::string edges;
    double kept = 0;
};
std::vector<KeptEdges> kept_edges(const Device& device);

/// What cuGraphExecUpdate says to a graph of two nodes in which one thing differs: "grid",
/// "function", "cooperative" … A change of which no graph can be built or instantiated is left out.
struct UpdateAnswer {
    std::string change;
    CUgraphExecUpdateResult result{};
};
std::vector<UpdateAnswer> update_answers(const Device& device);

// ---- Captures (probe_captures.cpp)

/// A call made while a stream captures: what it returns, and whether the capture is invalid after
/// it. `mode`: "global", "thread_local", "relaxed".
struct CaptureAnswer {
    std::string call, mode;
    CUresult result{};
    bool ended = false;
};
std::vector<CaptureAnswer> capture_answers(const Device& device);

// ---- Costs (probe_costs.cpp)

/// P5: median ms on the host, over `repeats`, of what is done to a chain of so many nodes:
/// "capture", "build", "instantiate", "rewrite" and "update", both of all nodes, "write_nodes".
std::map<std::string, double> graph_costs(const Device& device, int nodes, int repeats);

// ---- Memory (probe_memory.cpp)

/// P7: device memory of one executable of so many nodes, uploaded; by cuMemGetInfo over many of
/// them.
double executable_bytes(const Device& device, int nodes);

/// P9: allocations of a few bytes in a region, a granule each, mapped one by one or ahead in one
/// piece.
struct MappedMemory {
    double us = 0;    ///< of the host, for each
    double kept = 0;  ///< share of them that hold what was written to them once all were mapped
    double device_bytes = 0;  ///< for each
};
MappedMemory map_memory(const Device& device, int allocations, bool ahead);

/// P1: where a region's address space is given that is asked for at each of these, each given back
/// before the next; 0: it was refused.
std::vector<std::uint64_t> reserved_at(const Device& device, std::span<const std::uint64_t> bases);
/// The same in a process of its own, a new program: `assay-foundry-worker reserve DRIVER BASE…`.
/// NotSupportedHere where it is not beside this one, std::runtime_error where it fails.
std::vector<std::uint64_t> reserved_in_new_process(const std::filesystem::path& driver,
                                                   std::span<const std::uint64_t> bases);
/// What that program does: DRIVER BASE… in, an address a line out.
void print_reserved(std::span<char* const> arguments);

}  // namespace assay::foundry
