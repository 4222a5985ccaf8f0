#include "impls/lazarus/policy/controller/strategy.hpp"

#include <stdexcept>

#include "impls/lazarus/policy/controller/flexible_strategy.hpp"
#include "impls/lazarus/policy/rivals/eplb.hpp"
#include "impls/lazarus/policy/rivals/expert_parallel_strategy.hpp"

namespace assay::lazarus {

std::shared_ptr<const Strategy> make_strategy(const ControllerConfig& config) {
    switch (config.layout) {
        case Layout::flexible:
            return std::make_shared<LazarusStrategy>(config);
        case Layout::flexible_joint:
            return std::make_shared<JointStrategy>(config);
        case Layout::eplb:
            return std::make_shared<EplbStrategy>(config);
        case Layout::groups:
            return std::make_shared<ExpertParallelStrategy>(config);
    }
    throw std::invalid_argument("Lazarus controller: layout is none that is known");
}

}  // namespace assay::lazarus
