// One worker's share of the training: the state it holds, and a step on it. Knows nothing of
// processes, controllers or faults; the live worker and the replay drive it alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "impls/hetermoe/policy/controller/layout.hpp"
#include "impls/hetermoe/training/group_step.hpp"
#include "impls/nn/moe/state.hpp"
#include "impls/nn/training/corpus.hpp"
#include "suite/cluster/collectives/communicator.hpp"

namespace assay::hetermoe {

struct TrainingSettings {
    nn::MoeGptConfig model;
    nn::AdamOptions adam;
    std::int64_t sequences = 8;  ///< of a step, over all groups: whatever the groups are
    std::uint64_t seed = 1;      ///< of the initial state and of the data
    std::string corpus;          ///< file of text
    /// [layer][expert]: the share of a layer's rows that each expert gets, whatever the gates say
    /// (dealt_choices()). Empty: the gates choose.
    std::vector<std::vector<double>> loads;
};

/// What connects a rank to the others of its layout.
struct RankLinks {
    cluster::Communicator& all;  ///< the layout's ranks
    GroupLinks& group;           ///< those of its own group, as Layout::ranks_of() has them
};

struct StepResult {
    double loss = 0;  ///< mean nats per token over the global batch; equal on every rank
    /// Empty, or what is not finite: the loss, on whichever rank, or the sums of a block held here.
    std::string not_finite;
};

/// It is the state it holds: what moves, checkpoints or damages state takes it as such.
class Trainer : public nn::MoeState {
  public:
    Trainer(TrainingSettings settings, const nn::ByteCorpus& corpus)
        : MoeState(settings.model, settings.seed),
          settings_(std::move(settings)),
          corpus_(corpus) {}

    /// Forward, backward, sums over ranks: they are in the blocks' gradients afterwards, the state
    /// is untouched. Collective over the layout's ranks. Throws cluster::CommunicatorBroken.
    StepResult compute(std::int64_t step, const Layout& layout, RankLinks links,
                       StepOptions options = {});
    /// Applies the gradients of `step` (0-based), the last one computed. Throws std::logic_error
    /// when compute() found something here that is not finite.
    void apply(std::int64_t step);

    /// One of its gradients becomes NaN; where all experts have moved away it has none: its loss.
    void poison_next_step() { poisoned_ = true; }
    const TrainingSettings& settings() const { return settings_; }

  private:
    std::vector<std::vector<std::int64_t>> sequences_of(const Layout& layout, int group) const;
    void add_up(const Layout& layout, cluster::Communicator& all);

    TrainingSettings settings_;
    const nn::ByteCorpus& corpus_;
    std::string not_finite_;  // of the last compute()
    bool poisoned_ = false;
};

}  // namespace assay::hetermoe
