// The probability that every expert survives the loss of k nodes chosen uniformly (paper
// section 4.1).
//
// Within each component of the holder sets (holder_sets.hpp) the surviving failure sets are counted
// (survivors.hpp), by enumeration where it has few nodes, by inclusion-exclusion where it has few
// holder sets, from node to node where few sets overlap at a time; the counts of all components are
// multiplied as polynomials in the number of failed nodes. Where a component is too entangled for
// all three, one seeded Monte Carlo estimate covers the whole curve.
#pragma once

#include <cstdint>
#include <vector>

#include "impls/lazarus/policy/types.hpp"
#include "suite/base/describe.hpp"

namespace assay::lazarus {

enum class RecoveryMethod { exact, monte_carlo };
ASSAY_NAMES(RecoveryMethod, exact, monte_carlo)

struct RecoveryCurve {
    std::vector<double> probability;  ///< [k], k = 0 … nodes
    RecoveryMethod method = RecoveryMethod::exact;
    double error = 0;  ///< largest half width of the 95 % intervals (Wilson) over k; 0 when exact
};

struct RecoveryOptions {
    std::uint64_t seed = 1;  ///< of the Monte Carlo estimate
    int samples = 20000;     ///< random failure orders of the Monte Carlo estimate
    int enumerate_up_to =
        24;  ///< nodes of a component that is enumerated (at most 30: bits in memory)
    int inclusion_exclusion_up_to =
        16;                   ///< holder sets of a component that is expanded (at most 24)
    double sweep_work = 2e8;  ///< products, a second or so; 0: never from node to node
};

/// One layer. `experts`: ids are 0 … experts-1; one that no node holds makes every probability 0.
RecoveryCurve recovery_probability(const Placement& placement, int experts,
                                   const RecoveryOptions& options = {});

/// The whole model: every expert of every layer must survive. All layers have the same nodes.
RecoveryCurve recovery_probability(const ModelPlacement& placement, int experts,
                                   const RecoveryOptions& options = {});

}  // namespace assay::lazarus
