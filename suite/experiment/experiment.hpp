// What an experiment declares: axes, variants, metrics, profiles, provenances, its figure, and the
// function that makes one sample. Plain data; a system registers it (see system.hpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "suite/base/describe.hpp"
#include "suite/experiment/value.hpp"

namespace assay {

class Recorder;

/// How a number came to be. One per sample, never mixed within a series.
enum class Provenance { exact, measured, emulated, simulated };

/// How large a run is.
enum class Profile { toy, small, gpu, cluster, paper };

/// Which way of a metric is good; none: neither (a count, a probability curve).
enum class Direction { higher, lower, none };

ASSAY_NAMES(Provenance, exact, measured, emulated, simulated)
ASSAY_NAMES(Profile, toy, small, gpu, cluster, paper)
ASSAY_NAMES(Direction, higher, lower, none)

struct Axis {
    std::string name;
    std::string says;           ///< one line for `assay describe`
    std::vector<Value> values;  ///< the default sweep; `-a name=v1,v2` narrows it
    bool open = false;          ///< true: `-a` may also name values outside the list
};

struct MetricSpec {
    std::string name;
    std::string unit;  ///< "probability", "s", "count", "ratio", "bool" …
    std::string says;
    Direction better = Direction::none;
    bool deterministic = false;       ///< `assay replay` demands equality
    std::vector<std::string> labels;  ///< label names its values carry, for example {"failed"}
    std::vector<Provenance> only;     ///< samples of others do not have it; empty: all have it
    std::vector<Provenance> varies;   ///< in samples of these it is not deterministic all the same

    bool is_deterministic(Provenance) const;
};

/// What one profile means for one experiment.
struct ProfilePlan {
    Profile profile = Profile::toy;
    std::vector<Provenance> provenances;             ///< the first is the default of `assay run`
    std::map<std::string, std::vector<Value>> axes;  ///< replaces the default sweep of these axes
    /// … and of these where samples are of that provenance: what takes longer asks for less.
    std::map<Provenance, std::map<std::string, std::vector<Value>>> axes_of;
    std::vector<std::string> variants;        ///< where nobody names any; empty: all
    int rounds = 1;                           ///< samples per case and variant
    double seconds_per_sample = 1;            ///< estimate, printed by --dry-run …
    std::map<Provenance, double> seconds_of;  ///< … where it depends on the provenance
    double bytes_per_sample = 4096;           ///< estimate of what the store grows by
    double timeout_s = 600;
    /// Whether its samples compute on GPUs, so that one that throttles makes them invalid. Absent:
    /// at profiles gpu and cluster they do.
    std::optional<bool> on_gpus;
    /// Whether its samples compute with one thread each and measure no times, so that they need not
    /// have the machine alone: the runner makes several at once, as it does of simulated ones.
    bool side_by_side = false;

    bool uses_gpus() const;
    double seconds(Provenance) const;  ///< the estimate for one sample
    ProfilePlan of(Provenance) const;  ///< as it is for these samples: axes_of is part of axes
};

/// How the report draws the experiment.
struct Figure {
    enum class Kind { lines, bars, timeline };
    Kind kind = Kind::lines;
    std::string metric;               ///< the metric on the y axis
    std::string x;                    ///< an axis or a label of the metric
    std::vector<std::string> panels;  ///< axes that split the figure into panels
    std::string x_title;
    std::string y_title;
    bool log_y = false;
    /// A metric without labels: where it is set, lines pass through its median of the samples at x,
    /// one number against another, and x only says which samples belong together.
    std::string drawn_at;
};
ASSAY_NAMES(Figure::Kind, lines, bars, timeline)

/// Everything a sample needs to know; travels as JSON into its own process, and is stored for
/// replay.
struct SampleSpec {
    std::string experiment;
    std::string variant;
    Case axes;
    Profile profile = Profile::toy;
    Provenance provenance = Provenance::exact;
    std::uint64_t seed = 1;
    int round = 0;
    double timeout_s = 600;
    std::string scenario;  ///< fault plan, canonical text (suite/scenario); empty: none
    std::string scratch;   ///< folder of its own, removed afterwards
    /// Folder in which the sample may keep checkpoints of itself: when it is interrupted, its next
    /// attempt finds them. Empty (a replay): keep nothing. Made by whoever first needs it.
    std::string state;
    std::string shared;  ///< the same, of all samples of a session: intermediate results
};

nlohmann::json to_json(const SampleSpec&);
SampleSpec sample_spec_from_json(const nlohmann::json&);

/// A file that a sample reads.
struct Input {
    std::string name;  ///< what it is to the experiment: "corpus", "weights"
    std::filesystem::path file;
    std::string sha256;  ///< what its content must be; empty: any
};

struct Experiment {
    std::string id;  ///< "lazarus/fig8", "lazarus/tab2", our own additions "lazarus/x_live"
    std::string title;
    std::string source;  ///< "arXiv 2407.04656v2, section 6.3, Fig. 8"
    std::string says;    ///< a paragraph: what is done, what differs from the paper
    std::vector<Axis> axes;
    std::vector<std::string> variants;
    std::vector<MetricSpec> metrics;
    std::vector<ProfilePlan> profiles;
    Figure figure;
    bool takes_faults = false;     ///< accepts --fault and --scenario
    std::string default_scenario;  ///< fault plan text used when none is given
    /// Where variants and axes say what strikes: which variant and values stand for a plan that is
    /// given. They are run then where nobody names others. Empty: all are.
    struct GivenFaults {
        std::string variant;
        std::map<std::string, Value> axes;
    };
    GivenFaults given_faults;

    /// Refuses what cannot work (an infeasible plan, a fault for a rank that never exists) before
    /// anything runs, by throwing UserError. May be empty.
    std::function<void(const SampleSpec&)> validate;

    /// A reason why this point cannot be run on this machine (data not there, no GPU), or nullopt.
    std::function<std::optional<std::string>(const SampleSpec&)> unsupported;

    /// What an emulated or simulated sample takes for granted: device profiles, network shape,
    /// costs. Its hash is part of the series, the object is stored once per hash. Arrays
    /// `fitted_from` in it, at any depth, name the claims and sessions that a number was fitted
    /// from: claims among them are no longer supported by the sample. May be empty.
    std::function<nlohmann::json(const SampleSpec&)> calibration;

    /// The user's files that a sample reads: corpora, traces, weights; what `calibration` says of a
    /// file is not said again. The hash of their contents is part of the series. One that is not
    /// there counts for nothing (`unsupported` says so). May be empty.
    std::function<std::vector<Input>(const SampleSpec&)> inputs;

    /// Makes one sample. Runs in a fresh process. Throws SampleError (recorder.hpp) to end a sample
    /// with a status other than ok.
    std::function<void(const SampleSpec&, Recorder&)> run;

    std::string system() const;  ///< the part of id before '/'
    const ProfilePlan* plan(Profile) const;
    const MetricSpec* metric(std::string_view name) const;
    const Axis* axis(std::string_view name) const;
};

// The values that a sample gives its experiment's axes, typed.

/// The whole number on `axis`. Throws UserError, naming the axis and the range, for any other value
/// and for numbers outside `least` to `most`; std::out_of_range where the sample has no such axis.
std::int64_t integer_axis(const SampleSpec& spec, const std::string& axis, std::int64_t least,
                          std::int64_t most);

/// The same once the experiment has validated its samples, or for an axis whose values it lists:
/// anything but a whole number is a mistake in the program (std::bad_variant_access).
std::int64_t integer_axis(const SampleSpec& spec, const std::string& axis);

/// The number on `axis`, whole or not. Throws UserError, naming the axis, for a word;
/// std::out_of_range where the sample has no such axis.
double number_axis(const SampleSpec& spec, const std::string& axis);

/// What an axis is worth in a case that does not name it: the first of its declared values, where
/// the profile's sweep of it is empty. Such an axis is in a case only where it differs from that,
/// so one that an experiment gets later leaves every older series what it is. Null: cases name it.
const Value* unnamed_value(const Axis& axis, const ProfilePlan& profile);

/// The sample's case with those values filled in: for readers, never for a series.
Case with_unnamed_values(const Experiment& experiment, const SampleSpec& spec);

}  // namespace assay
