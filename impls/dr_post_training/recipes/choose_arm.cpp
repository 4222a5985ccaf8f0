#include "impls/dr_post_training/recipes/choose_arm.hpp"

#include <algorithm>
#include <cmath>

#include "impls/dr_post_training/policy/plan.hpp"
#include "impls/dr_post_training/recipes/row_products.hpp"

namespace assay::dr_post_training {
namespace {

class Choosing : public Arm {
  public:
    Choosing(const SftSettings& settings, const nn::Decoder& decoder, const SftRows& rows,
             std::uint64_t seed, double rate, Tuning* tuning)
        : decoder_(decoder),
          rows_(rows),
          mean_(settings.readings.loss),
          gains_(candidates().size()) {
        set_.k = settings.k;
        set_.eta = rate;
        for (const Candidate& candidate : candidates())
            arms_.push_back(make_arm(candidate.arm, settings, decoder, rows, seed, rate, tuning));
    }

    std::unique_ptr<TrainingStep> step(std::int64_t step,
                                       const SftRows::General& general) override {
        if (step % choose_every == 0) choose(step);
        ++steps_[candidates()[chosen_].arm];
        return arms_[chosen_]->step(step, general);
    }
    std::map<std::string, std::int64_t> delegated() const override { return steps_; }

  private:
    void choose(std::int64_t step) {
        for (std::int64_t batch = 0; batch < choose_batches; ++batch) {
            const auto compared = compare_all(
                plan_input(decoder_, rows_.general(step + batch).rows, rows_.given(), mean_), set_);
            for (std::size_t i = 0; i < gains_.size(); ++i) gains_[i] += share_of(compared, i);
        }
        chosen_ = static_cast<std::size_t>(std::max_element(gains_.begin(), gains_.end()) -
                                           gains_.begin());
    }
    /// 0 where the set cannot be had, or there is one target row.
    static double share_of(const std::vector<ComparedSet>& compared, std::size_t candidate) {
        const Candidate& wanted = candidates()[candidate];
        for (const ComparedSet& one : compared)
            if (one.set == wanted.set && one.partition == wanted.partition && one.gain &&
                one.total.target_norm2.value_or(0) > 0)
                return *one.gain / std::sqrt(*one.total.target_norm2);
        return 0;
    }

    const nn::Decoder& decoder_;
    const SftRows& rows_;
    LossMean mean_;
    SetSettings set_;
    std::vector<std::unique_ptr<Arm>> arms_;
    std::vector<double> gains_;  ///< by candidate, summed over choices
    std::size_t chosen_ = 0;
    std::map<std::string, std::int64_t> steps_;
};

}  // namespace

const std::vector<Candidate>& candidates() {
    static const std::vector<Candidate> all{{"full", SetKind::full, Partition::global},
                                            {"global", SetKind::topk, Partition::global},
                                            {"block", SetKind::topk, Partition::block},
                                            {"sublayer", SetKind::topk, Partition::sublayer},
                                            {"layer", SetKind::topk, Partition::layer},
                                            {"simplex", SetKind::simplex, Partition::layer},
                                            {"cone", SetKind::cone, Partition::layer},
                                            {"subspace", SetKind::subspace, Partition::layer},
                                            {"ball", SetKind::ball, Partition::layer},
                                            {"a_gem", SetKind::halfspace, Partition::global},
                                            {"target", SetKind::target, Partition::global}};
    return all;
}

std::unique_ptr<Arm> make_choose_arm(const SftSettings& settings, const nn::Decoder& decoder,
                                     const SftRows& rows, std::uint64_t seed, double rate,
                                     Tuning* tuning) {
    return std::make_unique<Choosing>(settings, decoder, rows, seed, rate, tuning);
}

}  // namespace assay::dr_post_training
