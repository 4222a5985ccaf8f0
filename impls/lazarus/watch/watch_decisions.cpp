#include "impls/lazarus/watch/watch_decisions.hpp"

#include "impls/lazarus/watch/protocol_watch.hpp"

namespace assay::lazarus {

std::vector<std::string> watch_decisions(const ControllerConfig& job,
                                         const std::vector<drive::Decision<Controller>>& recorded) {
    return elastic::watch_decisions(Controller(job), ProtocolWatch(job), recorded);
}

}  // namespace assay::lazarus
