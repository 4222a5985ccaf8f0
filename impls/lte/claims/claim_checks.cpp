#include "impls/lte/claims/claim_checks.hpp"

namespace assay::lte {

std::map<std::string, CustomCheck, std::less<>> claim_checks() {
    return {{"better_at_equal_sparsity", better_at_equal_sparsity},
            {"alike_at_equal_sparsity", alike_at_equal_sparsity},
            {"no_better_at_equal_sparsity", no_better_at_equal_sparsity},
            {"better_at_equal_latency", better_at_equal_latency},
            {"clearly_greater", clearly_greater},
            {"clearly_at_most", clearly_at_most},
            {"clearly_at_least", clearly_at_least},
            {"latency_nearly_linear", latency_nearly_linear},
            {"mostly_slower", mostly_slower},
            {"grows_sublinearly", grows_sublinearly},
            {"falls_with_sparsity", falls_with_sparsity},
            {"falls_with_layer", falls_with_layer},
            {"rises_with_eta", rises_with_eta},
            {"freer_patterns_better", freer_patterns_better},
            {"layers_differ", layers_differ}};
}

}  // namespace assay::lte
