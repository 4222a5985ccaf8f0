// What a server has of each graph, and what it does before it launches one: the rules of each way
// to restore, without a driver (specification 3.9, 6.3). The loader decides by them, an engine
// carries out.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "impls/foundry/method/ready_time.hpp"
#include "suite/base/describe.hpp"

namespace assay::foundry {

/// How a server comes by graphs that it can launch.
enum class Mode {
    capture,       ///< each is captured before the server is ready
    eager,         ///< none: kernels are launched one by one
    lazy_capture,  ///< each is captured when it is first launched
    no_templates,  ///< each is built and instantiated before ready
    r1,            ///< templates are; a group's executable is updated to the graph launched
    r2,            ///< the same, node by node
    r3_lazy,       ///< templates are; a member is instantiated when it is first launched
    r3_eager,      ///< templates are, and all members
    relocate,      ///< as no_templates, at other addresses, pointers shifted (Medusa's idea)
    dedup,         ///< each is captured, one of a group instantiated, and updated (SGLang's)
};
ASSAY_NAMES(Mode, capture, eager, lazy_capture, no_templates, r1, r2, r3_lazy, r3_eager, relocate,
            dedup)

/// Whether members share their group's executable.
constexpr bool shares(Mode mode) {
    return mode == Mode::r1 || mode == Mode::r2 || mode == Mode::dedup;
}
/// Whether graphs come out of an archive.
constexpr bool restores(Mode mode) {
    return mode == Mode::no_templates || mode == Mode::r1 || mode == Mode::r2 ||
           mode == Mode::r3_lazy || mode == Mode::r3_eager || mode == Mode::relocate;
}

/// What is done so that a graph can be launched. Each of those from `update` on is tried when the
/// one before failed.
enum class Make {
    nothing,  ///< its executable is there
    update,   ///< its group's executable takes over its parameters
    own,      ///< its template's graph does, and is instantiated
    build,    ///< its own graph is built node by node, and instantiated
    capture,  ///< its step is captured and instantiated
    plain,    ///< nothing helps: its kernels are launched one by one
};
ASSAY_NAMES(Make, nothing, update, own, build, capture, plain)

/// What it takes; launches themselves, and kernels one by one, count nothing.
double seconds(Make make, const Costs& costs);

class Executables {
  public:
    /// group_of[i]: the group of graph i; the first graph of a group is its template.
    Executables(Mode mode, std::span<const std::size_t> group_of);

    struct Task {
        std::size_t graph = 0;
        Make make{};
        bool operator==(const Task&) const = default;
    };
    /// What is made before the server is ready, in order. dedup: graphs that are captured but not
    /// instantiated are not among them.
    std::vector<Task> before_ready() const;

    /// What has to be made before this graph is launched; `nothing` and `plain` need none.
    Make next(std::size_t graph) const;
    void made(std::size_t graph, Make make);
    /// next() is the way after it then. `nothing`: what was made before cannot be launched, or
    /// gives other results than it must. Throws std::logic_error for `plain`: there is no other
    /// way.
    void failed(std::size_t graph, Make make);

    std::size_t instantiated() const { return instantiated_; }  ///< executables made so far
    bool is_template(std::size_t graph) const;
    std::size_t template_of(std::size_t graph) const;

  private:
    /// The way of `mode`, for a graph nothing failed for.
    Make usual(std::size_t graph) const;

    Mode mode_;
    std::vector<std::size_t> group_of_, template_of_;  // by graph; by group
    std::vector<bool> owns_;                           // by graph
    std::vector<Make> made_, least_;  // by graph: its last way; what did not fail yet
    std::vector<std::size_t> holds_;  // by group: the graph that its executable is
    std::size_t instantiated_ = 0;
};

}  // namespace assay::foundry
