#include "impls/hetermoe/emulated/controlled_steps.hpp"

#include "impls/hetermoe/policy/controller/controller.hpp"
#include "impls/hetermoe/policy/controller/pace.hpp"

namespace assay::hetermoe {
namespace {

// What each rank would say that it computed.
std::vector<ComputedTimes> computed_in(const PacedStep& step) {
    std::vector<ComputedTimes> ranks(step.ranks.size());
    for (const TaskRun& run : planned_runs(step)) {
        if (!computes(run.task) || run.task.layer > step.layout.layers()) continue;
        ComputedTimes& rank = ranks[static_cast<std::size_t>(run.rank)];
        const bool moved = run.task.kind == TaskKind::XF || run.task.kind == TaskKind::XB;
        (moved                                ? rank.moved_s
         : step.layout.is_attention(run.rank) ? rank.attention_s
                                              : rank.expert_s) += run.held_s;
    }
    return ranks;
}

}  // namespace

std::vector<PacedStep> controlled_steps(
    const ControllerSettings& settings,
    const std::function<PacedStep(const Layout&, std::size_t)>& step_in) {
    PaceWatch watch({.window = 1, .hysteresis = 1.25}, settings.times, settings.experts);
    Controller controller(settings);
    Controller::Actions actions;
    const auto tell = [&](const Event& event) { controller.on(event, 0, actions); };
    for (Worker worker = 0; worker < settings.new_workers() + settings.old_workers(); ++worker)
        tell(Joined{worker});
    std::vector<PacedStep> steps;
    Layout layout;
    for (std::size_t i = 0; i < actions.size(); ++i) {
        const Action action = actions[i];  // more come
        if (const auto* form = std::get_if<Reconfigure>(&action)) {
            layout = form->layout;
            for (const Worker worker : form->members) tell(Ready{worker, form->epoch});
        } else if (const auto* go = std::get_if<Go>(&action)) {
            steps.push_back(step_in(layout, steps.size()));
            for (const Worker rank : layout.ranks) tell(StepDone{rank, go->epoch, go->step});
            for (const Event& event :
                 watch.step_done({go->step, go->epoch, layout}, computed_in(steps.back())))
                tell(event);
        }
    }
    return steps;
}

}  // namespace assay::hetermoe
