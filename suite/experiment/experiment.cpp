// Names of the enumerations and look-ups inside an experiment.
#include "suite/experiment/experiment.hpp"

#include <array>
#include <utility>

namespace assay {
namespace {

constexpr std::array<std::pair<Provenance, std::string_view>, 4> provenance_names{{
    {Provenance::exact, "exact"},
    {Provenance::measured, "measured"},
    {Provenance::emulated, "emulated"},
    {Provenance::simulated, "simulated"},
}};

constexpr std::array<std::pair<Profile, std::string_view>, 5> profile_names{{
    {Profile::toy, "toy"},
    {Profile::small, "small"},
    {Profile::gpu, "gpu"},
    {Profile::cluster, "cluster"},
    {Profile::paper, "paper"},
}};

template <class Names, class Enum>
std::string_view name_of(const Names& names, Enum value) {
    for (const auto& [known, name] : names)
        if (known == value) return name;
    return "unknown";
}

template <class Enum, class Names>
std::optional<Enum> value_of(const Names& names, std::string_view text) {
    for (const auto& [known, name] : names)
        if (name == text) return known;
    return std::nullopt;
}

}  // namespace

std::string_view to_string(Provenance provenance) { return name_of(provenance_names, provenance); }
std::string_view to_string(Profile profile) { return name_of(profile_names, profile); }
std::string_view to_string(Direction direction) {
    switch (direction) {
        case Direction::higher:
            return "higher";
        case Direction::lower:
            return "lower";
        case Direction::none:
            break;
    }
    return "none";
}

std::optional<Provenance> parse_provenance(std::string_view text) {
    return value_of<Provenance>(provenance_names, text);
}
std::optional<Profile> parse_profile(std::string_view text) {
    return value_of<Profile>(profile_names, text);
}

std::string Experiment::system() const { return id.substr(0, id.find('/')); }

bool ProfilePlan::uses_gpus() const {
    return on_gpus.value_or(profile == Profile::gpu || profile == Profile::cluster);
}

const ProfilePlan* Experiment::plan(Profile profile) const {
    for (const ProfilePlan& plan : profiles)
        if (plan.profile == profile) return &plan;
    return nullptr;
}

const MetricSpec* Experiment::metric(std::string_view name) const {
    for (const MetricSpec& metric : metrics)
        if (metric.name == name) return &metric;
    return nullptr;
}

const Axis* Experiment::axis(std::string_view name) const {
    for (const Axis& axis : axes)
        if (axis.name == name) return &axis;
    return nullptr;
}

}  // namespace assay
