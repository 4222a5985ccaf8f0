// The one interface through which a system joins the application, and the registry of all systems.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "suite/base/error.hpp"
#include "suite/claim/claim.hpp"
#include "suite/experiment/event_kinds.hpp"
#include "suite/experiment/experiment.hpp"

namespace CLI {
class App;
}

namespace assay::data {
struct Entry;
}
namespace assay::drive {
struct Campaign;
}

namespace assay {

struct PolicyReplay;

/// A program within the program: `assay plan SYSTEM …`, or an extra command of a system.
class Command {
  public:
    virtual ~Command() = default;
    virtual void options(CLI::App& app) = 0;  ///< add options and examples
    virtual int run() = 0;      ///< an exit code (suite/cli/command.hpp); prints to stdout
    std::size_t columns = 100;  ///< that what is printed keeps to; set by whoever runs it
};

/// Whether a system's claims are read along with it.
enum class Claims { read, leave };

/// What a newcomer sees of a system first: in at most half a minute on two cores.
struct Highlight {
    /// An experiment at profile toy, narrowed.
    struct Part {
        std::string experiment;
        std::map<std::string, std::vector<Value>> axes;  ///< as -a; empty: the profile's
        std::vector<std::string> variants;               ///< empty: all
        std::optional<int> rounds;
    };
    std::string says;               ///< one line: what is to be seen
    std::vector<Part> parts;        ///< empty: the system has none
    std::string picture;            ///< the experiment among them whose figure is worth a look
    std::vector<std::string> data;  ///< what they need of `assay data list`; fetched where that
                                    ///< asks nothing of the user
};

/// Hears after every file how many of all have been read.
using FileProgress = std::function<void(std::size_t done, std::size_t all)>;

/// Writes the file of a data set (suite/data/catalog.hpp), which it makes out of a folder of the
/// user's. Throws data::DataError for what the folder lacks; whether `out` took it all is for the
/// caller to check.
using DataConverter = std::function<void(const data::Entry&, const std::filesystem::path& folder,
                                         std::ostream& out, const FileProgress& progress)>;
using DataConverters = std::map<std::string, DataConverter, std::less<>>;

/// Reads a file of a data set to its end. Throws data::DataError for what its format does not
/// allow, "line N: …" where it has lines.
using DataCheck = std::function<void(std::istream&)>;
using DataFormats = std::map<std::string, DataCheck, std::less<>>;

struct System {
    std::string id;     ///< "lazarus"
    std::string title;  ///< one line
    std::string paper;  ///< "arXiv 2407.04656v2"
    std::vector<Experiment> experiments;
    std::vector<Claim> claims;  ///< read from datasets/claims/<id>.toml
    /// Checks named `test = "custom:<name>"` in the claims file.
    std::map<std::string, CustomCheck, std::less<>> custom_checks;
    /// By the names that datasets/catalog.toml calls them by.
    DataConverters data_converters;
    /// Formats of data that the suite does not know itself (suite/data/check.hpp), by the names
    /// that datasets/catalog.toml calls them by.
    DataFormats data_formats;
    std::vector<EventKind> event_kinds;  ///< that its samples record beside suite_event_kinds()
    /// That faults can name. --fault and --scenario know those of all systems; an experiment that
    /// takes faults reads its scenario with these (parse_fault_plan), and so refuses others.
    FaultPhases fault_phases;
    std::unique_ptr<Command> plan;  ///< `assay plan <id>`; may be null
    /// `assay campaign <id>` (suite/drive/campaign/campaign.hpp); may be null.
    std::shared_ptr<const drive::Campaign> campaign;
    std::unique_ptr<Command> costs;  ///< `assay calibrate <id>`; may be null
    /// Tells the policy once more of what a sample recorded (suite/experiment/policy_replay.hpp):
    /// `assay replay ID --policy`; may be empty. Throws UserError for what is no such recording.
    std::function<PolicyReplay(std::istream& recording)> replay_policy;
    Highlight highlight;  ///< for `assay highlights`
    /// Reproduces nothing: only patterns that begin with its id select it, "all" and "*" do not.
    bool on_request = false;
};

/// A command of its own beside those of the suite, for what several systems share: `assay model
/// show`.
struct Tool {
    struct Subcommand {
        std::string name;
        std::string title;  ///< one line
        std::unique_ptr<Command> command;
    };
    std::string id;     ///< "model"
    std::string title;  ///< one line
    std::vector<Subcommand> subcommands;
};

class Registry {
  public:
    /// Throws std::logic_error on a duplicate id, an experiment or claim outside its system, an
    /// experiment without variants, with an axis twice, or whose profiles or figure name an axis,
    /// variant or metric that it does not have, a claim that asks a registered experiment for a
    /// variant, metric, axis or label it does not have, an unknown custom check, and an event kind,
    /// a phase of faults, a converter or a format of data declared twice: a registration must be
    /// right before anything runs. A claim may name an experiment that is not registered; its check
    /// then reads "not checkable here".
    void add(System system);

    void add(Tool tool) { tools_.push_back(std::move(tool)); }

    const std::vector<System>& systems() const { return systems_; }
    const std::vector<Tool>& tools() const { return tools_; }
    const System* system(std::string_view id) const;
    const Experiment* experiment(std::string_view id) const;
    const Claim* claim(std::string_view id) const;
    DataConverters data_converters() const;  ///< of all systems
    DataFormats data_formats() const;        ///< of all systems
    /// The suite's, then those of the experiment's system.
    std::vector<EventKind> event_kinds(const Experiment&) const;
    FaultPhases fault_phases() const;  ///< of all systems, equal names once

    /// The experiments matching "lazarus/fig8", "lazarus" (all of a system), "lazarus/fig*" or
    /// "all" (but those on request). Throws UnknownExperiment, whose text suggests the nearest id.
    std::vector<const Experiment*> select(std::string_view pattern) const;

  private:
    std::vector<System> systems_;
    std::vector<Tool> tools_;
};

class UnknownExperiment : public UserError {
    using UserError::UserError;
};

/// The check of one claim of the registry: claim.hpp's check() with the custom checks of its
/// system, and "not checkable here" when its experiment is not part of this build. Only
/// observations of the experiment as declared count: its default scenario, its own axis values.
ClaimCheck check_claim(const Registry&, const Claim&, std::span<const Observation>,
                       const NeedIsHere& here = {});

}  // namespace assay
