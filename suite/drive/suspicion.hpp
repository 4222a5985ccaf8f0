// A group's collectives failed: who is to blame? Members report what they saw; often a death that
// explains it is already on its way. A policy without I/O (policy.hpp), shared by every driver.
//
// A report that names a culprit (a damaged message, a peer out of reach) is believed at once. One
// that names nobody waits: a member's death explains it. If none comes, somebody is stuck or a
// connection failed, and the members cannot mend that among themselves: one has to go as if it had
// died. Rather one that did not notice, for it may be the one that is stuck. Each group is blamed
// on somebody at most once.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "suite/drive/policy.hpp"

namespace assay::drive {

using Epoch = std::int64_t;  ///< groups of a run, counted: a new plan, a new group

class Suspicion {
  public:
    enum class Cause {
        unexplained,      ///< it broke, and nobody knows why
        corrupt_message,  ///< a checksum did not match what the suspect sent
        unreachable       ///< the suspect cannot be reached
    };
    /// A new group is in force; what becomes of the ones before matters no more.
    struct GroupForms {
        Epoch epoch = 0;
        std::vector<WorkerId> members;
        bool operator==(const GroupForms&) const = default;
    };
    /// A member's collective gave up.
    struct GroupBroke {
        WorkerId reporter = -1;
        Epoch epoch = 0;
        Cause cause = Cause::unexplained;
        WorkerId suspect = -1;  ///< -1: unknown
        std::string why;
        bool operator==(const GroupBroke&) const = default;
    };
    /// A member was dismissed in order: it takes no part any more.
    struct Left {
        WorkerId worker = -1;
        bool operator==(const Left&) const = default;
    };
    using Event = std::variant<GroupForms, GroupBroke, Left, Died, Timer>;

    struct Blame {
        Epoch epoch = 0;
        WorkerId suspect = -1;
        Cause cause = Cause::unexplained;
        std::string why;
        bool operator==(const Blame&) const = default;
    };
    using Action = std::variant<StartTimer, Blame>;

    /// `patience_s`: how long a death may take to be noticed, and a little more. Of the clock that
    /// detection runs on, which is the machine's wherever workers are processes.
    explicit Suspicion(double patience_s) : patience_s_(patience_s) {}

    void on(const Event&, double now_s, std::vector<Action>&);

    /// Members of the group in force have reported that it broke.
    bool broken() const { return !reporters_.empty(); }

  private:
    void handle(const GroupForms&, std::vector<Action>&);
    void handle(const GroupBroke&, std::vector<Action>&);
    void handle(const Left&, std::vector<Action>&);
    void handle(const Died&, std::vector<Action>&);
    void handle(const Timer&, std::vector<Action>&);
    void blame(WorkerId suspect, Cause, std::string why, std::vector<Action>&);

    double patience_s_;
    Epoch epoch_ = 0;
    std::vector<WorkerId> members_;  ///< those of them that live
    std::vector<WorkerId> reporters_;
    std::string newest_why_;
    bool settled_ = false;  ///< blamed on somebody, or explained by a death
    std::uint64_t timers_ = 0;
    std::optional<std::uint64_t> waiting_;
};

}  // namespace assay::drive
