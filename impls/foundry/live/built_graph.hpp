// A graph built again with the explicit interface, and executables of it (specification 3.9).
#pragma once

#include <string>
#include <vector>

#include "impls/foundry/live/device.hpp"
#include "impls/foundry/live/images.hpp"
#include "impls/foundry/method/graphs/graph.hpp"

namespace assay::foundry {

/// What cuGraphLaunch() launches. Destroyed with this.
class Executable {
  public:
    Executable() = default;
    Executable(const Driver& driver, CUgraph graph);
    ~Executable();
    Executable(Executable&& other) noexcept { swap(other); }
    Executable& operator=(Executable&& other) noexcept {
        swap(other);
        return *this;
    }

    CUgraphExec get() const { return exec_; }
    void launch(CUstream stream) const;
    /// Takes over a graph's parameters. Why the driver refuses, empty: it did not. Nothing of the
    /// executable may be running.
    std::string update(CUgraph graph);

  private:
    void swap(Executable& other) noexcept {
        std::swap(driver_, other.driver_);
        std::swap(exec_, other.exec_);
    }
    const Driver* driver_ = nullptr;
    CUgraphExec exec_ = nullptr;
};

class BuiltGraph {
  public:
    /// Throws UserError for a kernel that no loaded image has, params shorter than its layout;
    /// DriverError.
    BuiltGraph(const Device& device, const Images& images, const Graph& graph);
    ~BuiltGraph();
    BuiltGraph(const BuiltGraph&) = delete;
    BuiltGraph& operator=(const BuiltGraph&) = delete;

    CUgraph get() const { return graph_; }
    /// Becomes another graph of the same topology (grouping.hpp, Key::strong): what differs of its
    /// nodes is written.
    void rewrite(const Graph& to);
    /// Writes what differs between the graph and `to` into an executable of it, node by node, and
    /// leaves the graph as it is: R2.
    void write_nodes(const Graph& from, const Graph& to, const Executable& executable) const;
    const Graph& graph() const { return shown_; }

  private:
    void add(const Node& node);
    void raise_limits(const Launch& launch) const;
    void add_edges();
    void write(std::size_t at, const Node& node, CUgraphExec executable) const;

    const Device& device_;
    const Driver& driver_;
    const Images& images_;
    Graph shown_;  ///< what the driver's graph is now
    CUgraph graph_ = nullptr;
    std::vector<CUgraphNode> nodes_;
    std::vector<CUevent> events_;
};

}  // namespace assay::foundry
