// Everything LTE registers. A new figure is one function in experiments/ and its name here.
#include "impls/lte/register.hpp"

#include "impls/lte/claims/latency_nearly_linear.hpp"
#include "impls/lte/decode_plan.hpp"
#include "impls/lte/experiments/experiments.hpp"
#include "suite/base/datasets.hpp"

namespace assay::lte {

System make_system(Claims claims) {
    System system;
    system.id = "lte";
    system.title =
        "LTE: learned structured sparsity in the feed-forward networks of language models";
    system.paper = "arXiv 2402.06126v4";

    for (auto* const experiment :
         {tab1,  fig8,  fig8b, fig2,       fig3,      fig5,      fig6,
          fig7,  fig9,  fig10, fig11,      fig12,     fig13,     fig14,
          fig15, fig16, tab2,  x_schedule, x_smollm2, x_routers, x_product})
        system.experiments.push_back(experiment());

    if (claims == Claims::read) system.claims = read_claims(datasets_dir() / "claims" / "lte.toml");
    system.custom_checks = {{"latency_nearly_linear", latency_nearly_linear}};
    system.highlight = {
        "a layer of LLaMA2-7B, dense and with half and nine tenths of its neurons left out",
        {{"lte/tab1"}, {"lte/fig8", {{"sparsity", {0.5, 0.9}}}, {"dense", "lte"}, 1}},
        "lte/fig8"};
    system.plan = make_plan_command();
    return system;
}

}  // namespace assay::lte
