// What an arm does with the rows of a step.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "impls/dr_post_training/method/training_step.hpp"
#include "impls/dr_post_training/recipes/sft_rows.hpp"
#include "impls/dr_post_training/recipes/tuning.hpp"

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

/// What an arm does before its first step, the same at every rate: nothing but for "less", which
/// chooses its rows ahead.
struct Preparation {
    std::vector<nn::ScoredRow> rows;   ///< in the order in which they are trained on
    double related = 0, contrary = 0;  ///< shares of them
    double seconds = 0;                ///< that it took
};
Preparation prepare(std::string_view arm, const SftSettings&, const SftRows&,
                    const nn::Decoder& base, std::uint64_t seed);

/// full        all general rows                    full_k     k of them
/// target      the given target rows alone         target_stopped  the same, for 50 steps
/// mixing      general rows and the step's target rows alike
/// global, block, sublayer, layer    the set of axis `rule`, groups of that partition choose
/// greats      global, greedy with the second-order term, in two passes
/// random_global, random_layer       k rows by lot
/// iif         of the next 50 steps' rows those that do not oppose the given target rows
/// less        rows chosen before the training (recipes/less.hpp)
/// a_gem       the target's direction without what opposes the general rows' mean, of the whole
///             model
/// simplex, cone, subspace, ball, halfspace     that set, for every map
/// choose      one of those after the other (choose_arm.hpp)
/// `tuning`: what is trained of the model, where it is not all; iif, a_gem and choose need it.
/// Throws std::invalid_argument for another name, or where a need is not met.
std::unique_ptr<Arm> make_arm(std::string_view name, const SftSettings&, const nn::Decoder&,
                              const SftRows&, std::uint64_t seed, double rate,
                              Tuning* tuning = nullptr, const Preparation& = {});

/// A copy of a model, what is trained of it, and who chooses from what.
struct Trainee {
    Trainee(std::string_view arm, const SftSettings&, double rate, const SftRows&,
            const nn::Decoder& base, std::uint64_t seed, const Preparation& = {});
    Trainee(const Trainee&) = delete;
    Trainee& operator=(const Trainee&) = delete;

    nn::Decoder decoder;
    std::unique_ptr<Tuning> tuning;
    std::unique_ptr<Arm> arm;
};

}  // namespace assay::dr_post_training
