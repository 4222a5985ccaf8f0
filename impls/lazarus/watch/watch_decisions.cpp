#include "impls/lazarus/watch/watch_decisions.hpp"

#include <fmt/format.h>

#include "impls/lazarus/watch/protocol_watch.hpp"

namespace assay::lazarus {

std::vector<std::string> watch_decisions(const ControllerConfig& job,
                                         const std::vector<drive::Decision<Controller>>& recorded) {
    Controller controller(job);
    ProtocolWatch watch(job);
    for (std::size_t i = 0; i < recorded.size(); ++i) {
        watch.before(recorded[i].event);
        Actions actions;
        controller.on(recorded[i].event, recorded[i].now_s, actions);
        for (const Action& action : recorded[i].actions) watch.after(action, controller);
        if (actions != recorded[i].actions) {
            auto failures = watch.failures();
            failures.insert(failures.begin(),
                            fmt::format("decision {}: the controller decides otherwise now", i));
            return failures;
        }
    }
    watch.finish_early(controller);
    return watch.failures();
}

}  // namespace assay::lazarus
