// What `assay doctor` finds on this machine.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "suite/cli/command.hpp"

namespace assay::cli {

enum class Level { ok, warn, fail };
std::string_view to_string(Level);  ///< "ok", "warn", "fail"

/// One line. `warn`: something will be missing or disturbed; `fail`: nothing can be run.
struct Finding {
    Level level = Level::ok;
    std::string name;  ///< "database", "disk", "memory" …
    std::string says;  ///< a sentence that also says how to mend it
};

std::vector<Finding> diagnose(const Context& context);

}  // namespace assay::cli
