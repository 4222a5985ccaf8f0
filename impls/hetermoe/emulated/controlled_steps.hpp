// Steps of paced processes as the controller of a training has them made, whose GPUs change pace.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "impls/hetermoe/emulated/paced_step.hpp"

namespace assay::hetermoe {

/// `settings.steps` steps of one group. `step_in`: the step of that number on the GPUs as they are
/// then, where ranks do what the layout says. The controller and its watch are told what those of a
/// live training are, and when: of a step's pace once the next is on its way, so a plan that
/// follows from it is in force from the one after that. Modelled steps differ only where a GPU
/// does, so each is a window of the watch; changes of pace by less than a quarter are none.
std::vector<PacedStep> controlled_steps(
    const ControllerSettings& settings,
    const std::function<PacedStep(const Layout&, std::size_t)>& step_in);

}  // namespace assay::hetermoe
