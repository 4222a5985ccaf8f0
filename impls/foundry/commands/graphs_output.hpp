// What `assay plan foundry --graphs` says.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "impls/foundry/method/graphs/grouping.hpp"
#include "impls/foundry/method/memory/audit.hpp"
#include "impls/foundry/method/ready_time.hpp"

namespace assay::foundry {

struct GraphsPlan {
    std::vector<std::int64_t> batches = {};  ///< of the graphs, as given
    Grouping grouping = {};
    std::optional<ReadyTimes> ready = {};                ///< with --costs
    std::optional<std::vector<AuditItem>> audited = {};  ///< with --memory
};

nlohmann::ordered_json to_json(const GraphsPlan& plan);
std::string to_text(const GraphsPlan& plan, std::size_t columns);

}  // namespace assay::foundry
