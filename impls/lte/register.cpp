// Everything LTE registers. A new figure is one file in experiments/ and one line here.
#include "impls/lte/register.hpp"

#include "impls/lte/experiments/claim_checks.hpp"
#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/plan_command.hpp"
#include "suite/experiment/datasets.hpp"

namespace assay::lte {

System make_system(Claims claims) {
    System system;
    system.id = "lte";
    system.title =
        "LTE: learned structured sparsity in the feed-forward networks of language models";
    system.paper = "arXiv 2402.06126v4";

    system.experiments.push_back(tab1());
#ifdef ASSAY_LTE_TIMING
    system.experiments.push_back(fig8());
#ifdef ASSAY_LTE_TRAINING
    system.experiments.push_back(with_gpu_profile(fig8b()));
#else
    system.experiments.push_back(fig8b());
#endif
#endif
#ifdef ASSAY_LTE_TRAINING
    system.experiments.push_back(fig2());
    system.experiments.push_back(fig3());
    system.experiments.push_back(fig6());
    system.experiments.push_back(fig9());
    system.experiments.push_back(fig10());
    system.experiments.push_back(fig11());
    system.experiments.push_back(fig12());
    system.experiments.push_back(fig13());
    system.experiments.push_back(fig15());
    system.experiments.push_back(fig16());
    system.experiments.push_back(tab2());
    system.experiments.push_back(x_schedule());
    system.experiments.push_back(x_smollm2());
#endif

    if (claims == Claims::read) system.claims = read_claims(datasets_dir() / "claims" / "lte.toml");
    system.custom_checks = claim_checks();
    system.highlight = {
        "a layer of LLaMA2-7B, dense and with half and nine tenths of its neurons left out",
        {{"lte/tab1"}},
        ""};
#ifdef ASSAY_LTE_TIMING
    system.highlight.parts.push_back({"lte/fig8", {{"sparsity", {0.5, 0.9}}}, {"dense", "lte"}, 1});
    system.highlight.picture = "lte/fig8";
#endif
    system.plan = make_plan_command();
    return system;
}

}  // namespace assay::lte
