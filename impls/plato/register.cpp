#include "impls/plato/register.hpp"

#include <memory>

#include "impls/plato/campaign/campaign.hpp"
#include "impls/plato/commands/plan_command.hpp"
#include "impls/plato/experiments/experiments.hpp"
#include "suite/base/datasets.hpp"

namespace assay::plato {

System make_system(Claims claims) {
    System system;
    system.id = "plato";
    system.title = "Plato: an answer planned by its model, its independent parts decoded together";
    system.paper = "arXiv 2402.12280v2";
    system.experiments = {throughput(),  pipeline(), kv(),       shape(),     batch(),
                          concurrency(), fidelity(), quality(),  x_context(), x_planner(),
                          x_payoff(),    x_faults(), x_options()};
    if (claims == Claims::read)
        system.claims = read_claims(datasets_dir() / "claims" / "plato.toml");
    system.highlight = {
        .says = "answers planned first, their parts decoded side by side: when that pays",
        .parts = {{.experiment = "plato/shape",
                   .axes = {{"model", {"llama2-7b"}}},
                   .variants = {},
                   .rounds = 1}},
        .picture = "plato/shape",
        .data = {}};
    system.plan = make_plan_command();
    system.campaign = std::make_shared<drive::Campaign>(campaign_modes());
    return system;
}

}  // namespace assay::plato
