// What an arm does with the rows of a step.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "impls/dr_post_training/method/training_step.hpp"
#include "impls/dr_post_training/recipes/fine_tuning.hpp"

namespace assay::dr_post_training {

class Arm {
  public:
    virtual ~Arm() = default;
    /// The forward pass of a step; nullptr: nothing is learnt from here on.
    virtual std::unique_ptr<TrainingStep> step(std::int64_t step,
                                               const SftRows::General& general) = 0;
    /// Those of the last step; nullptr: the arm does not choose.
    virtual const std::map<std::string, SelectingMaps::Decision>* decisions() const {
        return nullptr;
    }
    /// Steps that it left to each of other arms; empty: it is one rule throughout.
    virtual std::map<std::string, std::int64_t> delegated() const { return {}; }
};

/// full        all general rows                    full_k     k of them
/// target      the given target rows alone         target_stopped  the same, for 50 steps
/// mixing      general rows and the step's target rows alike
/// global, block, sublayer, layer    the set of axis `rule`, groups of that partition choose
/// greats      global, greedy with the second-order term, in two passes
/// random_global, random_layer       k rows by lot
/// a_gem       the target's direction without what opposes the general rows' mean
/// simplex, cone, subspace, ball     that set, for every map
/// choose      one of those after the other (choose_arm.hpp)
/// Throws std::invalid_argument for another name.
std::unique_ptr<Arm> make_arm(std::string_view name, const SftSettings&, const nn::Decoder&,
                              const SftRows&, std::uint64_t seed, double rate);

}  // namespace assay::dr_post_training
