// Fig. 10: eta sets the sparsity.
#include "impls/lte/experiments/experiments.hpp"
#include "impls/lte/experiments/training_experiment.hpp"

namespace assay::lte {

Experiment fig10() {
    Experiment experiment =
        training_experiment("fig10", "Efficiency weight and sparsity", "section 5.4, Fig. 10");
    experiment.says =
        "The published loss, lambda = 0.5, at several weights eta of the efficiency loss. The "
        "paper shows sparsity rising with eta from about 0.2 to 0.9 over eta in 0 to 2; see "
        "x_schedule for what the loss itself allows.";
    experiment.axes.push_back(
        {"eta", "weight of the efficiency loss", {0.0, 0.5, 1.0, 2.0, 8.0}, true});
    experiment.variants = {"lte_published"};
    experiment.profiles =
        training_profiles({{"model", {"gpt-toy"}}, {"eta", {0.0, 0.5, 2.0}}}, 3, 40);
    experiment.figure = {Figure::Kind::lines, "ffn_sparsity", "eta", {"model", "corpus"}, "eta",
                         "sparsity",          false};
    return experiment;
}

}  // namespace assay::lte
