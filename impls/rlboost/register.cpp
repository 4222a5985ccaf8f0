// Everything RLBoost registers. A new figure is one function in experiments/ and its name here.
#include "impls/rlboost/register.hpp"

#include "impls/rlboost/experiments/experiments.hpp"
#include "suite/base/datasets.hpp"

namespace assay::rlboost {

System make_system(Claims claims) {
    System system;
    system.id = "rlboost";
    system.title = "RLBoost: reinforcement learning with preemptible rollout workers";
    system.paper = "none";  // begun: what is ours alone
    system.on_request = true;
    system.experiments = {x_exact(), x_learns()};
    if (claims == Claims::read)
        system.claims = read_claims(datasets_dir() / "claims" / "rlboost.toml");
    return system;
}

}  // namespace assay::rlboost
