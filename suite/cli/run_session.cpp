#include "suite/cli/run_session.hpp"

#include <iostream>

#include "suite/cli/json_output.hpp"
#include "suite/cli/live_progress.hpp"

namespace assay::cli {

runner::Outcome run_session(const RunOptions& options, const runner::Request& request,
                            const runner::Plan& plan, const Context& context) {
    for (const std::string& sentence : plan.left_out)
        std::cerr << "left out: " << sentence << std::endl;
    store::Store store = store::Store::open(context.database_path(), store::Access::write);
    const bool stream = options.events == "jsonl";
    LiveProgress progress(terminal_width());
    return runner::execute(context.registry, plan, request, store,
                           [&](const runner::Notice& notice) {
                               if (stream)
                                   print_json_line(event_line(notice));
                               else
                                   progress.on(notice);
                           });
}

}  // namespace assay::cli
