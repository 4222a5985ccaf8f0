#include "impls/foundry/method/graphs/graph.hpp"

#include <algorithm>

namespace assay::foundry {

Integer field(const Fields& fields, std::string_view name) {
    for (const auto& [known, value] : fields)
        if (known == name) return value;
    return {};
}

Extent cluster(const Launch& launch) {
    Extent extent{1, 1, 1};
    for (const auto& [name, value] : launch.attributes) {
        if (name != "cluster") continue;
        if (const auto* one = std::get_if<Integer>(&value)) {
            extent[0] = static_cast<std::uint32_t>(one->bits);
        } else {
            const auto& several = std::get<std::vector<Integer>>(value);
            for (std::size_t i = 0; i < std::min(several.size(), extent.size()); ++i)
                extent[i] = static_cast<std::uint32_t>(several[i].bits);
        }
    }
    return extent;
}

}  // namespace assay::foundry
