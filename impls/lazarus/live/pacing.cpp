#include "impls/lazarus/live/pacing.hpp"

namespace assay::lazarus {

void StepPacing::begin(const nlohmann::json& go, const Reconfigure& plan, int rank) {
    rank_ = rank;
    step_.begin(go);
    timeline_.emplace(costs_, modelling_,
                      StepParticipants{plan.training, step_.slowdowns(), plan.holders});
}

void StepPacing::done(StepHooks::Phase phase, int layer) {
    using Phase = StepHooks::Phase;
    switch (phase) {
        case Phase::attention:
            return step_.hold_until(timeline_->attention_done(layer, rank_));
        case Phase::dispatched:
            return step_.hold_until(timeline_->dispatched(layer));
        case Phase::computed:
            return step_.hold_until(timeline_->computed(layer, rank_));
        case Phase::combined:
            return step_.hold_until(timeline_->combined(layer));
        case Phase::forward:
            return step_.hold_until(timeline_->forward_done());
        case Phase::backward:
            return step_.hold_until(timeline_->backward_done());
        case Phase::reduced:  // the session holds the commit
            return;
    }
}

}  // namespace assay::lazarus
