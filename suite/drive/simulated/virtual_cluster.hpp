// Workers of several roles without processes, in virtual time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "suite/drive/driver.hpp"
#include "suite/drive/simulated/virtual_transfers.hpp"
#include "suite/drive/simulated/virtual_worker.hpp"
#include "suite/drive/workers/meetings.hpp"
#include "suite/drive/workers/offering.hpp"
#include "suite/drive/workers/roster.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::drive {

/// The same latency for every message, for every detection, for every start.
class ConstantLatencies final : public Latencies {
  public:
    /// `patience_s`: how long a worker may be frozen; none: as long as a death takes to notice.
    ConstantLatencies(double message_s, double detect_s, double boot_s = 0,
                      std::optional<double> patience_s = std::nullopt)
        : message_s_(message_s),
          detect_s_(detect_s),
          boot_s_(boot_s),
          patience_s_(patience_s.value_or(detect_s)) {}
    double message(WorkerId) override { return message_s_; }
    double detection(WorkerId) override { return detect_s_; }
    double patience(WorkerId) override { return patience_s_; }
    double boot(WorkerId) override { return boot_s_; }

  private:
    double message_s_, detect_s_, boot_s_, patience_s_;
};

struct VirtualOptions {
    FaultPlan faults{};
    std::vector<Offer> offers{};
    double notice_s = 0;  ///< before an offer ends
};

class VirtualCluster final : public Driver, public VirtualWorker::Surroundings {
  public:
    /// All of them outlive it.
    VirtualCluster(std::vector<Role> roles, VirtualTime& time, Latencies& latencies,
                   VirtualOptions options, Recorder& recorder);

    double now() const override { return time_.now(); }
    bool turn(double most_s = SimulatedWorld::forever) override;
    WorkerId spawn(const Spawn& spawn, nlohmann::json configuration = {}) override;
    void send(WorkerId worker, const AnyMessage& message) override;
    void start(const StartTimer& timer) override;
    void start(const Transfer& transfer) override;
    void dismiss(WorkerId worker) override;
    void evict(const Evict& evict) override;
    void strike(const Fault& fault) override;
    bool alive(WorkerId worker) const override { return roster_.at(worker).how.empty(); }
    const std::string& how_ended(WorkerId worker) const override { return roster_.at(worker).how; }
    long faults_struck() const override { return struck_; }

  private:
    // ---- VirtualWorker::Surroundings ---------------------------------------------------------
    void says(WorkerId worker, AnyMessage message) override;
    void ends(WorkerId worker, const std::string& how) override;
    bool passes(WorkerId worker, std::string_view phase, long step) override;
    void arrives(WorkerId worker, const Group& group, double seconds) override;
    void turns_away(WorkerId worker, std::int64_t group) override;
    void is_struck(WorkerId worker, const Fault& fault) override;
    void progresses(WorkerId worker) override;

    void begin();
    WorkerId add(const Spawn& spawn, nlohmann::json configuration);
    /// `more`: those that come at one moment are told of together.
    void come(WorkerId worker, bool more);
    void join(const Fault& fault);
    void kill(WorkerId worker, const std::string& how);
    void kill(WorkerId worker, const std::string& how, double known_after_s);
    void break_for(const std::vector<WorkerId>& members);

    void strike_at_time(std::size_t fault);
    void strike(const Fault& fault, WorkerId target);
    void strike_links(const Fault& fault, WorkerId target);
    void strikes(const Fault& fault, WorkerId target);  ///< counts it
    void hang(WorkerId worker, std::optional<double> for_s);

    struct UnderWay {
        Transfer order;
        Bytes content, place;
    };
    void begin_transfer(const Transfer& transfer);
    void arrived(std::uint64_t id);

    VirtualWorker& worker(WorkerId id) { return *workers_[static_cast<std::size_t>(id)]; }

    Roster roster_;
    VirtualTime& time_;
    Latencies& latencies_;
    SimulatedWorld world_;
    VirtualTransfers transfers_;
    Recorder& recorder_;
    FaultPlan faults_;
    Offering offering_;
    std::vector<char> fired_;  // of each fault
    std::vector<std::unique_ptr<VirtualWorker>> workers_;
    std::vector<std::uint64_t> watches_;  // of each worker, counted: the one in force
    Meetings meetings_;
    std::map<std::uint64_t, UnderWay> under_way_;
    std::map<WorkerId, std::vector<std::uint64_t>> to_the_dead_;  // transfers, not told of yet
    std::map<WorkerId, int> corrupts_;                            // its next transfers
    long struck_ = 0;
    int there_ = 0, joins_to_come_ = 0;  ///< workers that no death was told of, nor dismissed
    bool begun_ = false, idle_ = false;
};

}  // namespace assay::drive
