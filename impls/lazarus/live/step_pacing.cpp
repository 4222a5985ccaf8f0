#include "impls/lazarus/live/step_pacing.hpp"

#include <nlohmann/json.hpp>

namespace assay::lazarus {

void StepPacing::begin(const nlohmann::json& go, const Reconfigure& plan, int rank) {
    rank_ = rank;
    timeline_.emplace(
        costs_, modelling_,
        StepCast{plan.training, go.at("slowdowns").get<std::vector<double>>(), plan.holders});
    pacer_.emplace(go.at("speed").get<double>());
    pacer_->start(go.at("start_s").get<double>());
    begun_s_ = cluster::monotonic_s();
    held_s_ = 0;
}

void StepPacing::hold_until(double offset_s) {
    const double before = cluster::monotonic_s();
    pacer_->hold_until(offset_s);
    held_s_ += cluster::monotonic_s() - before;
}

void StepPacing::done(StepHooks::Phase phase, int layer) {
    using Phase = StepHooks::Phase;
    switch (phase) {
        case Phase::attention:
            return hold_until(timeline_->attention_done(layer, rank_));
        case Phase::dispatched:
            return hold_until(timeline_->dispatched(layer));
        case Phase::computed:
            return hold_until(timeline_->computed(layer, rank_));
        case Phase::combined:
            return hold_until(timeline_->combined(layer));
        case Phase::forward:
            return hold_until(timeline_->forward_done());
        case Phase::backward:
            return hold_until(timeline_->backward_done());
        case Phase::reduced:  // the session holds the commit
            return;
    }
}

void StepPacing::report(nlohmann::json& step_done, double link_held_s) const {
    step_done["modelled_s"] = timeline_->total();
    step_done["work_s"] = cluster::monotonic_s() - begun_s_ - held_s_ - link_held_s;
}

}  // namespace assay::lazarus
