// Flows that share links, as SimGrid simulates them. SimGrid is behind this interface in a module
// of its own, libassay_simgrid.so beside the program, opened when flows are first asked for:
// loading SimGrid takes longer than all else that most commands do, and a program runs without it.
//
// SimGrid has one engine per process, and it is built once: a second one in a process is an error.
// Simulations that need one therefore run in a process each, as samples do.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace assay::drive {

/// What the engine is built of: links that carry one direction, and hosts on switches. A flow goes
/// up its source's link and down its destination's, and over the links of both switches where those
/// are two.
struct FlowPlatform {
    static constexpr int none = -1;  ///< no link
    struct Host {
        int on = 0;  ///< the number of its switch
        int up = none, down = none;
    };
    struct Switch {
        int up = none, down = none;  ///< none: no flow goes there from elsewhere
    };
    std::vector<double> links;  ///< bytes/s
    std::vector<Switch> switches;
    std::vector<Host> hosts;
};

class FlowEngine {
  public:
    using Id = std::uint64_t;  ///< above 0, the caller's
    static constexpr double never = std::numeric_limits<double>::infinity();

    virtual ~FlowEngine() = default;

    virtual double clock() const = 0;  ///< seconds since it was built, of this engine's own time

    /// Between two hosts, of whole bytes above 0; begins at once and ends by itself. Flows that
    /// share a link share its bandwidth equally, as far as other links let them use it.
    virtual void start(Id, int from, int to, double bytes) = 0;
    virtual void cancel(Id) = 0;  ///< one that has ended: ignored
    virtual std::size_t under_way() const = 0;

    virtual double next_end() = 0;  ///< when, by clock(); never: nothing is under way
    /// Goes on to next_end(), or to `until_s` where that is earlier, and appends the ids of what
    /// ended there.
    virtual void advance(double until_s, std::vector<Id>& ended) = 0;
};

/// The engine of this process. Throws NotSupportedHere where there is no SimGrid, in one sentence
/// that says how to get it, and UserError where the process has had an engine already.
std::unique_ptr<FlowEngine> open_flow_engine(const FlowPlatform&);

/// Why it cannot be opened: SimGrid was not there when this was built, or is not there now.
std::optional<std::string> flow_engine_lacks();

}  // namespace assay::drive
