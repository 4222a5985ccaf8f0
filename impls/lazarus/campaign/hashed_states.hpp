// What every worker of a virtual cluster holds, as hashes (model_state.hpp), and what it should
// hold: whoever trains on with another state than the lineage leads to is found out.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "impls/lazarus/campaign/model_state.hpp"
#include "impls/lazarus/simulated/state_keeper.hpp"

namespace assay::lazarus::campaign {

class HashedStates final : public StateKeeper {
  public:
    using Complain = std::function<void(std::string)>;

    HashedStates(const ControllerConfig& job, Hash seed, Complain complain);

    /// The controller asked for it: the lineage grows, or is cut back.
    void asked_for(const Action&);
    /// `worker` has the state that `lineage` leads to, as far as `plan` gives it to it.
    bool ends_as(Worker worker, const Reconfigure& plan,
                 const std::vector<CommittedStep>& lineage) const;
    /// What the steps asked for add up to is what `lineage` leads to.
    bool agrees_with(const std::vector<CommittedStep>& lineage) const;

    void expects(Worker, const Reconfigure&) override;
    void moved(Worker from, Worker to, const StatePart&) override;
    void restored(Worker, const Reconfigure&) override;
    void adopted(Worker, const Reconfigure&) override;
    void applied(Worker, const Commit&, const Reconfigure&) override;
    void wrote(Worker, Step, const StatePart&) override;

  private:
    struct Held {
        std::map<ExpertId, Hash> experts;
        std::optional<Hash> dense;
    };
    struct Holder {
        Held now, staged;
    };
    ModelState replayed(const std::vector<CommittedStep>& lineage) const;
    std::optional<Hash> stored(Step, const StatePart&);

    ControllerConfig job_;
    Hash seed_;
    Complain complain_;
    std::map<Worker, Holder> holders_;
    std::map<std::pair<Step, StatePart>, Hash> storage_;
    Reconfigure plan_{};                                       ///< in force
    std::vector<ModelState> states_;                           ///< of the lineage, by step
    std::map<std::pair<Epoch, Step>, ModelState> after_step_;  ///< those undone since, too
};

}  // namespace assay::lazarus::campaign
