// The axes that Plato's experiments have in common, and what they stand for.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "impls/plato/live/live_run.hpp"
#include "impls/plato/policy/plan_record.hpp"
#include "suite/experiment/experiment.hpp"

namespace assay::plato {

inline constexpr const char* live_model = "smollm2-135m-instruct";  ///< that toy runs measure
inline constexpr const char* live_device = "cpu";                   ///< this machine's

std::string word_axis(const SampleSpec& spec, const char* axis);

Axis plans_axis();  ///< sets, "recorded", files
Axis reuse_axis();
/// model and device: of simulated samples shapes and profiles. activations: of measured ones.
std::vector<Axis> machine_axes();

/// Plans in numbers: drawn (`count` of them), of the file that the axis names, or the recorded
/// ones. Throws UserError.
std::vector<PlanRecord> plans_of(const SampleSpec& spec, int count);
/// The file that `plans` names; nullopt: a set.
std::optional<Input> plans_input(const SampleSpec& spec);

/// toy: measured, these values of axes, then simulated; paper: simulated; gpu: not supported yet.
std::vector<ProfilePlan> live_profiles(std::map<std::string, std::vector<Value>> toy_axes,
                                       double seconds_per_sample);
/// The device's profile.
nlohmann::json device_calibration(const SampleSpec& spec);

/// Why measured samples cannot be had here; nullopt: they can.
std::optional<std::string> live_unsupported(const SampleSpec& spec);
/// The model, and the plans' file.
std::vector<Input> live_inputs(const SampleSpec& spec);
/// What a sample needs, reads and takes for granted.
void declare_live(Experiment& experiment);
/// Throws UserError.
void validate_axes(const SampleSpec& spec);

/// Toy and paper alike, in virtual time: three rounds of a second at most.
std::vector<ProfilePlan> virtual_profiles();

}  // namespace assay::plato
