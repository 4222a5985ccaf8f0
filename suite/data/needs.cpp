#include "suite/data/needs.hpp"

#include <algorithm>

#include "suite/measure/environment.hpp"

namespace assay::data {

const Entry* serving(const std::string& need) {
    const auto& entries = catalog();
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [&](const Entry& entry) { return entry.serves == need; });
    return found == entries.end() ? nullptr : &*found;
}

bool is_here(const std::string& need) {
    if (need == "gpu") {
        static const bool has_gpu = !measure::read_gpus().devices.empty();
        return has_gpu;
    }
    const Entry* entry = serving(need);
    return entry != nullptr && locate(entry->id).has_value();
}

}  // namespace assay::data
