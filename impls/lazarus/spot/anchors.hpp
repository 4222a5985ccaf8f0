// What the paper's own rates imply for the cost model. It has two for a training that nothing
// disturbs (Fig. 7, GPT-M on ten nodes): 45 sequences per second of Lazarus, 34 of DeepSpeed. The
// model has more unknowns than that: which shares of their peaks computing and links reach, and how
// much of the gradient sums the backward pass hides. So they bound each other, and no more.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "impls/lazarus/spot/steady_rate.hpp"
#include "suite/claim/claim.hpp"

namespace assay::lazarus {

struct Anchor {
    std::string claim;   ///< id of the statement
    std::string system;  ///< "lazarus", "ds"
    double rate = 0;     ///< sequences per second
};

/// The two, as `claims` state them. Throws UserError where one is missing or has no value.
std::vector<Anchor> anchors_among(std::span<const Claim> claims);

/// What a cluster's devices and links reach of their peaks; above 0, at most 1.
struct Shares {
    double matmul = 1, link = 1;
};

/// The training that an anchor speaks of (GPT-M, ten nodes, the steps that the paper's rate makes
/// in its undisturbed 40 minutes) on a cluster whose shares are put in question; everything else is
/// as its profile says.
class AnchoredTraining {
  public:
    /// `routing`: "synthetic" or the file of a routing trace. Throws UserError as the profiles do.
    AnchoredTraining(Anchor anchor, const ClusterProfile& cluster, const std::string& routing);

    const Anchor& anchor() const { return anchor_; }
    Shares shipped() const;  ///< of the profiles; of several devices the first
    SteadyCost cost(const Shares& shares) const;
    /// Seconds that it is faster than the anchor, over all steps; in 1/share all but linear.
    double ahead_s(const Shares& shares, double overlap) const;

    // Which share meets the anchor at an overlap, the other being as shipped; nothing where none
    // from 0.02 to 1 does.
    std::optional<double> matmul_for(double overlap) const;
    std::optional<double> link_for(double overlap) const;

  private:
    Anchor anchor_;
    ClusterProfile cluster_;
    std::vector<DeviceProfile> devices_;
    Modelling modelling_;
    std::vector<SteadyStep> steps_;
};

/// Both shares, so that both anchors are met at an overlap; nothing where none from 0.02 to 1 do.
std::optional<Shares> shares_for(const AnchoredTraining& one, const AnchoredTraining& other,
                                 double overlap);

}  // namespace assay::lazarus
