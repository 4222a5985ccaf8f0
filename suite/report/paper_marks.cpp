// See paper_marks.hpp.
#include "suite/report/paper_marks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace assay::report {
namespace {

/// The axis decides which data an experiment works on: some claim of it says what it needs there.
bool is_input(const std::string& axis, const std::string& experiment,
              std::span<const Claim> claims) {
    return std::any_of(claims.begin(), claims.end(), [&](const Claim& claim) {
        return claim.experiment == experiment &&
               std::any_of(claim.needs.begin(), claim.needs.end(),
                           [&](const std::string& need) { return need.rfind(axis + ":", 0) == 0; });
    });
}

}  // namespace

bool is_figure_point(const Claim& claim, const Experiment& experiment) {
    static const std::set<std::string> bounds{"at_least",   "at_most",    "greater",
                                              "increasing", "decreasing", "order"};
    return claim.value && !claim.over && claim.experiment == experiment.id &&
           claim.metric == experiment.figure.metric && !bounds.contains(claim.test);
}

PanelMatch match_panel(const Claim& claim, std::span<const Claim> claims,
                       const std::vector<std::string>& names,
                       const std::vector<OrderedValue>& values, const std::string& x) {
    PanelMatch match{PanelMatch::Kind::full, ""};
    for (const auto& [name, wanted] : claim.of.where) {
        if (name == x) continue;
        const auto at = std::find(names.begin(), names.end(), name);
        if (at == names.end()) return {};
        const Value& ours = values[static_cast<std::size_t>(at - names.begin())].value;
        if (same_number_or_text(ours, wanted)) continue;
        if (to_string(ours).empty() || !is_input(name, claim.experiment, claims)) return {};
        match.kind = PanelMatch::Kind::other_input;
        match.inputs += fmt::format("{}its {}: {}, ours: {}", match.inputs.empty() ? "" : "; ",
                                    name, to_string(wanted), to_string(ours));
    }
    return match;
}

}  // namespace assay::report
