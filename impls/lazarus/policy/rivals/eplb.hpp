// DeepSeek's expert-parallel load balancer (EPLB), from the description that comes with it
// (deepseek-ai/EPLB, README): redundant experts by load, packed so that GPUs get equal loads. Held
// against Eq. 1 with maximum rank overlap: it has no fewest number of replicas per expert, and
// where replicas lie has nothing to do with what survives a loss.
#pragma once

#include <span>

#include "impls/lazarus/policy/controller/flexible_strategy.hpp"
#include "impls/lazarus/policy/types.hpp"

namespace assay::lazarus {

struct EplbMachine {
    int gpus = 1;
    int slots = 1;   ///< replicas per GPU
    int nodes = 1;   ///< the GPUs are shared out among them, in order
    int groups = 1;  ///< consecutive experts that a group-limited gate chooses together
};

/// One layer: GPU → experts in its slots, in the order in which they are packed. Hierarchical where
/// `nodes` divides `groups`: groups are packed to nodes, experts replicated within a node, replicas
/// packed to its GPUs; so with one node and one group, which is EPLB's global policy, and its
/// choice wherever `nodes` does not divide `groups`.
///
///   replicate: one each; then each further one to the expert with the largest load per replica.
///   pack:      heaviest first, each to the lightest pack that has room; as many to each.
///
/// Ties go to the lower index. Throws UserError where the slots are fewer than the experts, a load
/// is negative, or groups and nodes do not divide what they share out.
Placement place_eplb(std::span<const Tokens> loads, const EplbMachine& machine);

/// Lazarus with EPLB's replicas and packing in place of Eq. 1 and the settings' placement:
/// `min_replicas` and `placement` mean nothing to it. Global, over nodes, since the gates of the
/// paper's models choose no groups. What was lost comes from peers where it can, as with Lazarus.
class EplbStrategy final : public FlexibleStrategy {
  public:
    explicit EplbStrategy(const ControllerConfig& config) : FlexibleStrategy(config) {}

  private:
    ModelPlacement plan(const std::vector<Loads>& loads, int nodes) const override;
};

}  // namespace assay::lazarus
