#include "suite/runner/versus/versus_plan.hpp"

#include <map>

#include "suite/runner/plan.hpp"

namespace assay::runner {
namespace {

Request with_rounds(Request request, int rounds) {
    request.rounds = rounds;
    request.until_decided.reset();
    return request;
}

}  // namespace

Plan versus_plan(const Registry& registry, const VersusRequest& request) {
    return make_plan(registry, with_rounds(request.what, request.decision.max_rounds));
}

std::vector<BuildQuestion> build_questions(const Plan& plan, const DecisionOptions& options) {
    std::vector<BuildQuestion> questions;
    std::map<std::string, std::size_t> index;
    for (const PlannedSample& planned : plan.samples) {
        SampleSpec name = planned.spec;
        name.round = 0;
        name.seed = 0;
        const auto [it, is_new] = index.try_emplace(identity(name), questions.size());
        if (is_new) {
            BuildQuestion& added = questions.emplace_back();
            added.experiment = planned.experiment;
            added.metrics = deciding_metrics(*planned.experiment, options);
        }
        questions[it->second].rounds.push_back(&planned);
    }
    return questions;
}

std::optional<Plan> control_plan(const Registry& registry, const VersusRequest& request,
                                 const Plan& plan) {
    if (!request.control || registry.experiment(control_experiment) == nullptr) return std::nullopt;
    for (const PlannedSample& planned : plan.samples)
        if (planned.spec.experiment == control_experiment) return std::nullopt;
    Request control;
    control.patterns = {std::string(control_experiment)};
    control.profile = request.what.profile;
    control.seed = request.what.seed;
    control.timeout_s = request.what.timeout_s;
    try {
        return make_plan(registry, with_rounds(control, request.decision.max_rounds));
    } catch (const UserError&) {
        return std::nullopt;
    }
}

}  // namespace assay::runner
