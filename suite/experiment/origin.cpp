#include "suite/experiment/origin.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace assay {

std::vector<std::vector<std::size_t>> comparable_sets(std::span<const Origin* const> origins) {
    using State = std::pair<std::string_view, std::string_view>;
    std::map<std::string_view, std::map<State, std::vector<std::size_t>>> machines;
    for (std::size_t i = 0; i < origins.size(); ++i)
        machines[origins[i]->hardware][{origins[i]->calibration, origins[i]->data}].push_back(i);
    std::vector<std::vector<std::size_t>> sets;
    for (auto& [hardware, states] : machines) {
        std::vector<std::size_t> all;
        for (const auto& [state, indexes] : states)
            all.insert(all.end(), indexes.begin(), indexes.end());
        std::sort(all.begin(), all.end());
        const std::string& session = origins[all.front()]->session;
        const bool one_session =
            !session.empty() && std::all_of(all.begin(), all.end(), [&](std::size_t i) {
                return origins[i]->session == session;
            });
        if (one_session || states.size() == 1)
            sets.push_back(std::move(all));
        else
            for (auto& [state, indexes] : states) sets.push_back(std::move(indexes));
    }
    return sets;
}

std::string_view short_hash(std::string_view hash) { return hash.substr(0, 8); }

}  // namespace assay
