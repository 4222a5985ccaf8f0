// Transfers between workers in virtual time: each worker has one port each way, and transfers share
// ports as fluids do (fair_flows.hpp). Links between two workers are without limit until a fault
// says otherwise.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "suite/drive/nic.hpp"
#include "suite/drive/policy.hpp"
#include "suite/drive/simulated/fair_flows.hpp"
#include "suite/drive/simulated/virtual_time.hpp"

namespace assay::drive {

/// What a fault does to a link between two workers, to each direction by itself.
struct LinkTrouble {
    double latency_s = 0;  ///< added to transfers that begin while it lasts
    double bandwidth = 0;  ///< bytes/s of all transfers of the direction together; 0: no limit
    bool cut = false;      ///< they stand still, and go on when it heals
    /// Share of the bytes that are sent again, below 1. A fluid loses nothing: the link carries
    /// `1 - loss` of what its limit and the ports of both ends would let through.
    double loss = 0;
};

/// Latency first, then bytes: a transfer shares bandwidth from its first byte to its last. Misuse
/// (an unknown worker, an id in use, a negative size) throws std::logic_error.
class VirtualTransfers {
  public:
    using Id = std::uint64_t;  ///< the caller's
    using Done = std::pair<Id, std::uint64_t>;

    explicit VirtualTransfers(VirtualTime& time) : time_(time) {}
    ~VirtualTransfers();
    VirtualTransfers(const VirtualTransfers&) = delete;
    VirtualTransfers& operator=(const VirtualTransfers&) = delete;

    /// Of a worker that comes, or has another one from now on: its transfers keep what is done, and
    /// latencies that have begun are what they were.
    void set_nic(WorkerId, const Nic&);

    /// From one worker to another. `arrived` is called once, when the last byte is there, never
    /// from within; the transfer is forgotten by then. One of no bytes takes the latency alone, and
    /// waits like all others where the link is cut.
    void begin(Id, WorkerId from, WorkerId to, double bytes, std::function<void()> arrived);
    /// Forgets it. Returns the whole bytes that have arrived (a rounding error of less than a
    /// millionth of a byte costs none), never more than it has; 0 of an unknown one.
    std::uint64_t stop(Id);
    /// All from it or to it, for it has died: in the order of their ids.
    std::vector<Done> stop_all_of(WorkerId);
    std::size_t under_way() const { return transfers_.size(); }

    /// The link of worker and peer, both directions; without `peer` each of the worker's links for
    /// which nothing else is set. After `for_s` it heals by itself. A later call for the same
    /// replaces it. Trouble without any effect heals, or exempts a link from what befalls all those
    /// of one of its workers. Links where that befalls both ends have both troubles.
    void set_link(WorkerId, std::optional<WorkerId> peer, const LinkTrouble&,
                  std::optional<double> for_s = std::nullopt);

  private:
    struct Port {
        Nic nic;
        FairFlows::Link send, receive;
    };
    struct Transfer {
        WorkerId from, to;
        double bytes;
        std::function<void()> arrived;
        VirtualTime::Id after_latency = 0;
        std::optional<FairFlows::Flow> flow = std::nullopt;  ///< nothing while its latency lasts
    };
    using Ends = std::pair<WorkerId, WorkerId>;
    /// Of a link: its ends, the smaller first. Of all links of a worker: that one alone.
    using Links = std::pair<WorkerId, std::optional<WorkerId>>;
    struct Trouble {
        LinkTrouble what;
        std::optional<VirtualTime::Id> heals;
    };

    void keep_up() { flows_.advance(time_.now()); }
    void expect_next_end();
    void next_has_ended();
    void start(Id);

    LinkTrouble trouble(Ends) const;
    double limit(Ends from_to) const;
    FairFlows::Link link(Ends from_to);
    void heal(const Links&);
    void drop_exemptions();
    void set_limits();

    VirtualTime& time_;
    FairFlows flows_;
    std::map<WorkerId, Port> ports_;
    std::map<Id, Transfer> transfers_;
    std::unordered_map<FairFlows::Flow, Id> ids_;
    std::map<Ends, FairFlows::Link> links_;  ///< of each direction, those that were used
    std::map<Links, Trouble> troubles_;
    struct Expected {
        double ends_s;
        VirtualTime::Id event;
    };
    std::optional<Expected> expected_;  ///< the next end
};

}  // namespace assay::drive
