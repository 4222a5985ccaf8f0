// What the nightly gate keeps: nights, what each said about its rows, regressions and their steps,
// accepted levels, mutes. Pure bookkeeping: who decides is suite/gate.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "suite/experiment/series.hpp"
#include "suite/store/store.hpp"

namespace assay::store {

struct NightRecord {
    std::string id;  ///< UUID
    std::string suite, machine, session;
    std::string program;   ///< folder of the kept program; empty: not kept
    std::string started;   ///< ISO 8601, UTC
    std::string finished;  ///< empty while it is not over
    std::string verdict;
};

/// What a night said about one row.
struct NightRowRecord {
    RowId id;
    std::optional<double> median;
    std::string evidence;  ///< "none", "slower", "not again", "same"
};

/// The same row in one of many nights.
struct RowOfNight {
    std::string night, started, session;
    NightRowRecord row;
    std::string finished{};
};

struct RegressionStep {
    std::string at, night;  ///< night empty: a person did it
    std::string state;      ///< after the step; empty: taken back
    std::string why;
};

struct RegressionRecord {
    std::string id, suite, machine;
    RowId row;
    std::string state;  ///< empty: taken back
    std::string opened, changed;
    std::vector<RegressionStep> steps;  ///< oldest first
};

/// A step to be taken. Without an open record of the row, `to` opens one.
struct RegressionMove {
    RowId row;
    std::string to;     ///< empty: taken back
    bool anew = false;  ///< opens another record, whatever became of the one before
    std::string why;
};

struct AcceptedLevel {
    std::string baseline;
    std::optional<RowId> row;  ///< nullopt: everything
    std::string session;
    std::string at, why;
    std::string since;  ///< when that session started; filled in when read
};

struct MuteRecord {
    std::string pattern, metric;
    std::string until;  ///< ISO 8601 or its beginning; empty: for good
    std::string why, at;
    std::string who;    ///< login name; empty: not known
    std::string ended;  ///< when a person ended it; empty: it holds until it runs out
    std::string ended_by, ended_why;
};
/// Whether it mutes at that time, ISO 8601.
bool holds(const MuteRecord&, std::string_view now);

class Nights {
  public:
    /// The store must outlive it.
    explicit Nights(Store& store) : store_(store) {}

    /// Inserts, or finds the night that this session is of already; returns the night's id.
    std::string begin(const NightRecord&);
    /// Verdict, report, rows and steps of regressions in one transaction.
    void finish(const NightRecord&, const nlohmann::json& report,
                const std::vector<NightRowRecord>&, const std::vector<RegressionMove>&);
    /// The last to be recorded first, as their sessions (Store::sessions()); `suite` empty: of all.
    std::vector<NightRecord> nights(std::string_view suite) const;
    /// As finish() stored it; an empty object where there is none.
    nlohmann::json report(std::string_view night) const;
    /// Every row of the finished nights of a suite on a machine, in the other direction.
    std::vector<RowOfNight> rows(std::string_view suite, std::string_view machine) const;

    /// The newest record of each row last; empty texts do not restrict.
    std::vector<RegressionRecord> regressions(std::string_view suite,
                                              std::string_view machine) const;
    /// A person's step.
    void move(std::string_view regression, std::string_view state, std::string_view why);

    void accept(const AcceptedLevel&);
    std::vector<AcceptedLevel> levels(std::string_view baseline) const;  ///< oldest first
    /// Forgets a baseline and its levels; false: there is none of this name.
    bool drop_baseline(std::string_view baseline);

    /// Ends one of equal pattern and metric that still holds.
    void mute(const MuteRecord&);
    /// False: no such mute holds.
    bool unmute(std::string_view pattern, std::string_view metric, std::string_view who = "",
                std::string_view why = "");
    /// That no person ended; those that ran out are among them.
    std::vector<MuteRecord> mutes() const;
    /// With those that ended, by pattern and metric, the oldest first.
    std::vector<MuteRecord> all_mutes() const;

    /// When the file was made.
    std::string file_made() const;

  private:
    Store& store_;
};

}  // namespace assay::store
