// What goes wrong in a simulated training: asked at every point where something can. A fault plan
// says when and to whom (planned_trouble.hpp); a campaign draws more (campaign/random_trouble.hpp).
#pragma once

#include <set>
#include <vector>

#include "impls/lazarus/policy/controller/protocol.hpp"
#include "suite/drive/suspicion.hpp"

namespace assay::lazarus {

/// Points in a worker's life.
enum class Moment {
    before_joining,    ///< started, not reported
    before_step_done,  ///< sums finished, not reported
    after_step_done,   ///< reported, not committed
    commit_received,   ///< committed, not applied
    go_received,       ///< first step of a new plan about to start
    joiner_goes,       ///< the node that just joined, at its first Go
    reconfigure_received,
    sending,    ///< about to have sent a state
    receiving,  ///< about to have received a state
    after_ready,
    writing_checkpoint,  ///< some parts written, others not
    count
};

/// What several workers do at once.
enum class Together { building, summing };

/// What becomes of the part of a checkpoint that a worker writes.
enum class Writing { whole, torn, no_space };

/// Of a collective that breaks: what one of its members sees, and when.
struct Symptom {
    Worker member = -1;
    double after_s = 0;
    drive::Suspicion::Cause cause = drive::Suspicion::Cause::unexplained;
    Worker suspect = -1;  ///< -1: unknown
};

/// Nothing goes wrong.
class Trouble {
  public:
    virtual ~Trouble() = default;

    /// Training begins: times of a fault plan count from here.
    virtual void begins() {}
    /// `worker` is there. Afterwards it may be dead, frozen, or stuck for good.
    virtual void reached(Moment, Worker /*worker*/) {}
    /// It is killed. True: so suddenly that what it sent last is lost.
    virtual bool silences(Worker) { return false; }

    /// All of `among` have come, more than one. Empty: it works. Else those who see no symptom wait
    /// until they are told to stop.
    virtual std::vector<Symptom> breaks(Together, const std::vector<Worker>& /*among*/) {
        return {};
    }
    /// The state that `from` sends arrives with a bit flipped.
    virtual bool damages(Worker /*from*/, Worker /*to*/) { return false; }
    /// A member died while sums were under way. True: this one has them all the same.
    virtual bool spares_sums(Worker) { return false; }

    /// Those whose sums of this try of a step are not finite.
    virtual std::set<Worker> not_finite(const Reconfigure&, Step) { return {}; }
    /// A bit of its state flipped: it will notice at the end of a step, or before it gives the
    /// state to others.
    virtual bool changed_state(Worker) { return false; }
    virtual Writing writes(Worker, Step) { return Writing::whole; }
};

}  // namespace assay::lazarus
