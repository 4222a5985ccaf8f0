// From workers to the ranks of the modelled cluster: where on its network each is, and what each
// GPU of a node holds.
#pragma once

#include <memory>
#include <vector>

#include "impls/lazarus/cost/step_timeline.hpp"
#include "impls/lazarus/policy/controller/protocol.hpp"

namespace assay::lazarus {

/// Places of workers among `places`, one each: worker i has place i; those whose number is beyond
/// (workers that came later; numbers are never used again) take the free places, in order. A
/// function of who is there, so that everyone finds the same. Throws UserError where there are more
/// workers than places.
std::vector<int> seats_of(const std::vector<Worker>& workers, int places);

/// The ranks of workers with `gpus` each: those of worker i of the list are i · gpus and the
/// following. Of a cluster without [network] places make no difference: its own.
std::shared_ptr<const Network> network_of_workers(const CostModel& costs,
                                                  const std::vector<Worker>& workers, int gpus);

/// Who takes part in the steps of a plan. `slowdowns`: [worker of plan.training]; of a node with
/// several GPUs they are those of each. `loads`: [layer][expert] tokens that the plan was made
/// from, all zero for equal ones, by which a node deals replicas to its GPUs where modelling.deal
/// says so; all the same to workers with one.
StepParticipants participants_of(const Reconfigure& plan, const std::vector<double>& slowdowns,
                                 const std::vector<Loads>& loads, const CostModel& costs,
                                 const Modelling& modelling);

}  // namespace assay::lazarus
