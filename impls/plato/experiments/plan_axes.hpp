// The settings and axes that Plato's experiments have in common, and what they stand for.
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "impls/decode/cpu/products.hpp"
#include "impls/plato/policy/plan_record.hpp"
#include "suite/experiment/declaration.hpp"

namespace assay::plato {

inline constexpr const char* live_model = "smollm2-135m-instruct";  ///< that toy runs measure
inline constexpr const char* live_device = "cpu";                   ///< this machine's

/// One that may be measured: made by the engine.
struct LiveSample {
    std::uint64_t seed = 1;
    Provenance provenance{};
    Profile profile{};
    bool measured() const { return provenance == Provenance::measured; }
};
Axes<LiveSample> live_sample();  ///< without an axis
/// Why measured samples cannot be had here; nullopt: they can.
std::optional<std::string> live_unsupported(const LiveSample& sample);
/// Of a measured one the model.
std::vector<Input> live_inputs(const LiveSample& sample);

/// model and device: of simulated samples shapes and profiles. activations: of measured ones.
struct Machine : LiveSample {
    std::string model, device;
    decode::ActivationType activations{};
};
Axes<Machine> machine_axes();
/// The device's profile.
nlohmann::json device_calibration(const Machine& machine);

struct PlanSet {
    std::string plans;   ///< a set, "recorded", a file; empty: drawn with `density`
    double density = 0;  ///< the probability of an edge
};
/// "plans": of sets alone.
Axes<PlanSet> drawn_plans_axes();
/// Plans in numbers: drawn (`count` of them), of the file, or the recorded ones. Throws UserError.
std::vector<PlanRecord> plans_of(const PlanSet& set, int count, std::uint64_t seed);
/// The file that `plans` names, if it does.
std::vector<Input> plans_input(const PlanSet& set);

struct MachinePlans : PlanSet, Machine {};
/// "plans": sets, "recorded", files.
Axes<MachinePlans> plans_axes();

/// What samples need, read and take for granted.
template <std::derived_from<Machine> Settings>
void declare_live(Declaration<Settings>& declared) {
    declared.unsupported(live_unsupported);
    if constexpr (std::derived_from<Settings, PlanSet>) declared.inputs(plans_input);
    declared.inputs(live_inputs);
    declared.calibration(device_calibration);
}

/// toy: measured, these values of axes, then simulated; paper: simulated; gpu: not supported yet.
std::vector<ProfilePlan> live_profiles(std::map<std::string, std::vector<Value>> toy_axes,
                                       double seconds_per_sample);

/// Toy and paper alike, in virtual time: three rounds of a second at most.
std::vector<ProfilePlan> virtual_profiles();

}  // namespace assay::plato
