// Which nodes of a plan are decoded when: told of what happens, it starts nodes. The same under a
// live engine, in virtual time and in `assay plan plato`.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "suite/base/describe.hpp"

namespace assay::plato {

/// ar: without a plan. sot: Skeleton-of-Thought, every node at once, once the plan is there. waves:
/// all nodes of a depth, then those of the next. plato_nopipe: by dependencies, once the plan is
/// there. plato: by dependencies, while the plan is still being written.
enum class Mode { ar, sot, waves, plato_nopipe, plato };
ASSAY_NAMES(Mode, ar, sot, waves, plato_nopipe, plato)

/// Which ready node goes first; ties: the lower number. path: with the longest answers still to
/// come, its own and those of what waits for it. prefix: with the most of its prompt cached,
/// SGLang's rule.
enum class Order { path, index, prefix };
ASSAY_NAMES(Order, path, index, prefix)

/// A line of the plan is out: the next node is known.
struct NodeAnnounced {
    std::int64_t out_tokens = 1;  ///< of its answer, or an estimate
    std::vector<int> dependencies;
};
struct PlanEnded {};
struct NodeFinished {
    int node = 0;
};
/// A step begins, in which so many more sequences have room.
struct StepBegins {
    int room = 0;
};
using Event = std::variant<NodeAnnounced, PlanEnded, NodeFinished, StepBegins>;

/// What the controller has done, and what it asks.
class Actions {
  public:
    virtual ~Actions() = default;
    virtual void start(int node) = 0;
    /// Of the node's prompt, tokens that are cached now. Asked for by Order::prefix alone.
    virtual std::int64_t cached_tokens(int node) const = 0;
};

/// Of each node those that must be finished before it may start: sot: none; waves: all of a smaller
/// depth, the longest chain of dependencies below; else its dependencies. [node - 1]
std::vector<std::vector<int>> predecessors(Mode mode,
                                           const std::vector<std::vector<int>>& dependencies);

class Controller {
  public:
    /// mode: any but ar, which has no nodes.
    Controller(Mode mode, Order order) : mode_(mode), order_(order) {}

    void on(const Event& event, Actions& actions);
    /// The plan has ended and every node is finished.
    bool done() const { return ended_ && finished_ == static_cast<int>(nodes_.size()); }

  private:
    struct Node {
        std::int64_t out_tokens;
        std::vector<int> dependencies, predecessors;
        bool started = false, finished = false;
    };

    void handle(const NodeAnnounced& event, Actions&);
    void handle(const PlanEnded&, Actions&);
    void handle(const NodeFinished& event, Actions&);
    void handle(const StepBegins& event, Actions& actions);
    const Node& node(int number) const { return nodes_[static_cast<std::size_t>(number - 1)]; }
    std::vector<int> ready_nodes() const;
    std::vector<std::int64_t> ranks(const std::vector<int>& ready, const Actions& actions) const;
    std::vector<std::int64_t> remaining_paths() const;

    Mode mode_;
    Order order_;
    std::vector<Node> nodes_;  // [number - 1]
    int finished_ = 0;
    bool ended_ = false;
};

}  // namespace assay::plato
