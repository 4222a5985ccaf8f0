// Virtual time on SimGrid: the semantics of EventQueue, and flows between ranks that share links,
// work on their devices, and hosts that go off.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "suite/drive/simgrid/rank_flows.hpp"
#include "suite/drive/simulated/virtual_time.hpp"

namespace assay::drive {

/// What SimGrid decides are flows: how fast each is, and so when it ends. All else is kept here, as
/// nothing shares it: what is due at a known moment does not become truer by a detour.
class SimGridTime final : public VirtualTime {
  public:
    enum class End { done, broken };  ///< broken: a host that it needed is off
    using Ended = std::function<void(End)>;

    /// While flows of this one are under way, nobody else may use the same.
    explicit SimGridTime(std::shared_ptr<RankFlows> flows);
    ~SimGridTime() override;
    SimGridTime(const SimGridTime&) = delete;
    SimGridTime& operator=(const SimGridTime&) = delete;

    double now() const override { return now_; }
    Id at(double t_s, Callback what) override;
    /// Flows and work too: their `ended` is not called then. Work keeps its place on the device.
    void cancel(Id id) override;
    /// A flow that is asked for after this was false may begin later than its latency says, by what
    /// the latency of another is longer.
    bool next(double until_s = std::numeric_limits<double>::infinity()) override;
    bool empty() const override { return free_.size() == items_.size(); }
    std::uint64_t happened() const override { return happened_; }

    /// From one rank's device to another's: the latency of the route, then the bytes (whole ones),
    /// as fast as the links on it let them. `ended` is told when they are there, or at the moment
    /// when either host goes off. Within a rank: at once.
    Id flow(int from, int to, double bytes, Ended ended);
    /// The device does what it is given one after the other; this takes so many seconds of it.
    Id compute(int rank, double seconds, Ended ended);

    void turn_off(int rank);  ///< ends its flows and its work now; what asks for it later is broken
    void turn_on(int rank);
    bool is_on(int rank) const { return hosts_[static_cast<std::size_t>(rank)].on; }

  private:
    struct Due {
        double t_s;
        Id id;
        bool operator>(const Due& other) const {
            return t_s != other.t_s ? t_s > other.t_s : id > other.id;
        }
    };
    struct Flow {
        int from, to;
        double bytes;
        Ended ended;
        enum { latency, under_way, over } state = latency;
        End end = End::done;
    };
    struct Work {
        int rank;
        Ended ended;
        End end = End::done;
    };
    /// What is yet to happen. Its id is a number that counts up, and its place among items_.
    struct Item {
        Id id = 0;  ///< 0: the place is free
        std::variant<Callback, Flow, Work> what;
    };
    struct Host {
        bool on = true;
        double busy_until_s = 0;
    };

    void check(int rank) const;
    Id add(std::variant<Callback, Flow, Work> what);
    Item* find(Id id);  ///< nullptr: has happened, or was cancelled
    std::variant<Callback, Flow, Work> take(Item& item);
    void due(double t_s, Id id);
    Due take_first_due();
    void begin(Id id, Flow&);
    void collect(double until_s);  ///< lets flows go on to then, or to the next end
    void carry_out(Item&);

    std::shared_ptr<RankFlows> shared_;
    FlowEngine& engine_;
    double now_ = 0;
    double engine_started_s_ = 0;  ///< when the engine's clock was 0, while flows are under way
    std::uint64_t added_ = 0, happened_ = 0;
    std::vector<Due> due_;  ///< a heap; what was cancelled stays until its moment
    std::vector<Item> items_;
    std::vector<std::size_t> free_;  ///< places of items_
    std::vector<Host> hosts_;
    std::vector<Id> just_ended_;
};

}  // namespace assay::drive
