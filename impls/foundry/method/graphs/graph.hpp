// A captured CUDA graph as data: nodes in the order of their creation, edges between them. What
// method/ reads, compares, groups and stores; a driver's graph is read into one
// (live/read_graph.hpp) and built from one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "suite/base/describe.hpp"

namespace assay::foundry {

/// The nodes that can be built again with the explicit graph interface; any other type is refused
/// (specification 3.6, 3.13).
enum class NodeType : std::uint8_t { kernel, memset, memcpy, event_record, event_wait, empty };
ASSAY_NAMES(NodeType, kernel, memset, memcpy, event_record, event_wait, empty)

/// A whole number of 64 bits: addresses are unsigned, priorities may be negative.
struct Integer {
    std::uint64_t bits = 0;  ///< two's complement where negative
    bool negative = false;

    static Integer of(std::int64_t value) { return {static_cast<std::uint64_t>(value), value < 0}; }
    static Integer of(std::uint64_t value) { return {value, false}; }
    auto operator<=>(const Integer&) const = default;
};

/// A launch or function attribute: one number, or several ("cluster": x, y, z).
using Attribute = std::variant<Integer, std::vector<Integer>>;
/// In the order of their names, each once.
using Attributes = std::vector<std::pair<std::string, Attribute>>;
using Fields = std::vector<std::pair<std::string, Integer>>;
using Extent = std::array<std::uint32_t, 3>;  // x, y, z

/// What a kernel node launches.
struct Launch {
    std::string image = {};  ///< SHA-256 of the binary that holds it, 64 lower-case digits
    std::string name = {};   ///< mangled
    Extent grid{1, 1, 1};
    Extent block{1, 1, 1};
    std::uint32_t shared_bytes = 0;  ///< dynamic shared memory of a block
    Attributes attributes = {};
    std::vector<std::byte> params = {};  ///< packed as the kernel's layout says

    bool operator==(const Launch&) const = default;
};

struct Node {
    NodeType type = NodeType::empty;
    Launch launch = {};  ///< of a kernel
    Fields fields = {};  ///< of any other

    bool operator==(const Node&) const = default;
};

struct Edge {
    std::uint32_t from = 0, to = 0;  ///< nodes, counted from 0
    std::uint8_t from_port = 0, to_port = 0;
    std::uint8_t type = 0;  ///< 0 full, 1 programmatic (between kernels)

    auto operator<=>(const Edge&) const = default;
};

struct Graph {
    std::int64_t batch = 0;  ///< the batch size that it decodes
    std::vector<Node> nodes = {};
    std::vector<Edge> edges = {};  ///< in rising order, as graphs are built

    bool operator==(const Graph&) const = default;
};

/// The number at `name`, or 0.
Integer field(const Fields& fields, std::string_view name);
/// Launch attribute "cluster", [1,1,1] where it is not given.
Extent cluster(const Launch& launch);

}  // namespace assay::foundry
