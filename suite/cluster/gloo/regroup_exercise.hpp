// Real worker processes that all-reduce without end, lose members and regroup: what the tests of
// failures and the regroup benchmark share.
//
// The supervisor's part is the protocol of every live system in small: on a death it sends an
// urgent abort for the old group and the membership of the next one; workers report the break,
// regroup and report their first good sum. Worker i contributes 2^i, so a sum names the members it
// was made of.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "suite/cluster/gloo/gloo.hpp"
#include "suite/cluster/processes/supervisor.hpp"

namespace assay::cluster {

class RegroupExercise {
  public:
    /// Makes the fork server: to be constructed before the process has threads.
    explicit RegroupExercise(SupervisorOptions options = {},
                             std::chrono::milliseconds gloo_timeout = std::chrono::seconds(10));

    /// A group of `size` workers, started where too few are alive; returns when all of them have
    /// all-reduced once. They go on doing so. Throws std::runtime_error when that fails.
    void form(int size);

    enum class Fault { kill, hang };
    struct Timeline {
        double detected_s = 0;    ///< from the fault to the supervisor's knowing
        double all_broken_s = 0;  ///< … to the last survivor's CommunicatorBroken
        double regrouped_s = 0;   ///< … to the last survivor's first good all-reduce
        std::map<WorkerId, std::string> broken;  ///< what each survivor's exception said
    };
    /// Strikes `victims`, members of the group, at once; the survivors regroup.
    Timeline lose(const std::vector<WorkerId>& victims, Fault fault = Fault::kill);

    const std::vector<WorkerId>& members() const { return members_; }
    Supervisor& supervisor() { return supervisor_; }

  private:
    std::string announce_group();
    void take_reduced(const WorkerMessage& message);
    WorkerMessage next_message();

    Supervisor supervisor_;
    RendezvousServer rendezvous_;
    std::chrono::milliseconds gloo_timeout_;
    std::vector<WorkerId> members_;
    int groups_ = 0;
    std::string key_;
};

}  // namespace assay::cluster
