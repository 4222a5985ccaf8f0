// The phases that the faults of these tests can name: those of the shipped scenarios.
#pragma once

#include "suite/scenario/fault_plan.hpp"

inline const assay::FaultPhases own_phases{
    {.name = "regroup", .says = "survivors connect anew"},
    {.name = "transfer", .says = "state moves", .corruptible = true}};
