#include "suite/gate/reruns.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>

#include "suite/base/error.hpp"
#include "suite/compare/read_arm.hpp"
#include "suite/gate/output/night_words.hpp"
#include "suite/gate/row_patterns.hpp"
#include "suite/measure/environment.hpp"
#include "suite/runner/versus/versus.hpp"

namespace assay::gate {
namespace {

using Clock = std::chrono::steady_clock;

/// Candidates of one series with one old program: one rerun answers all of them.
using Group = std::vector<NightRow*>;
using GroupKey = std::pair<RowId, std::filesystem::path>;

struct Turn {
    std::filesystem::path old_program;
    Group rows;
    int open_before = 0;      ///< of its candidates, the most
    bool candidates = false;  ///< else rows that are rerun for the mean alone
};

/// Those that waited longest first, then the other candidates, among equals another one every
/// night.
std::vector<Turn> turns_of(const std::map<GroupKey, Group>& groups, const RerunRequest& request) {
    std::vector<Turn> turns;
    for (const auto& [key, group] : groups) {
        Turn turn{.old_program = key.second, .rows = group};
        for (const NightRow* row : group) {
            if (!row->candidate) continue;
            turn.candidates = true;
            turn.open_before = std::max(turn.open_before, request.open_before(*row));
        }
        turns.push_back(std::move(turn));
    }
    const auto first = turns.begin() + static_cast<std::ptrdiff_t>(request.turn % turns.size());
    std::rotate(turns.begin(), first, turns.end());
    std::stable_sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) {
        return std::pair(a.open_before, a.candidates) > std::pair(b.open_before, b.candidates);
    });
    return turns;
}

/// What the budget did not suffice for.
class Spent {
  public:
    Spent(const RerunRequest& request, const report::RowNames& names)
        : request_(request), names_(names) {}

    /// `whole_s`: what the group would have taken at most; 0: not known.
    void took(double whole_s) { longest_s_ = std::max(longest_s_, whole_s); }

    void left_open(const Group& rows) {
        for (NightRow* row : rows) {
            row->budget_ended = true;
            if (!row->candidate)
                ++(row->rerun ? cut_short_ : for_mean_);
            else
                candidates_.push_back(row->against_baseline.id);
            if (row->candidate && request_.open_before(*row) > 0) ++again_;
        }
    }

    std::vector<std::string> warnings(std::size_t groups) const {
        std::vector<std::string> sentences;
        const std::size_t n = candidates_.size();
        if (n > 0) {
            sentences.push_back(fmt::format(
                "{} undecided, since the rerun budget of {:g} s was spent: {}; {} first in the "
                "next night",
                n == 1 ? "1 candidate is" : fmt::format("{} candidates are", n), request_.budget_s,
                few_names(candidates_, names_), n == 1 ? "it comes" : "they come"));
            if (again_ > 0)
                sentences.back() += fmt::format(
                    "; {} no verdict in the night before either: the budget is too small{}",
                    n == 1        ? "it had"
                    : again_ == n ? "they had"
                                  : fmt::format("{} of them had", again_),
                    enough(groups));
        }
        if (for_mean_ > 0)
            sentences.push_back(fmt::format(
                "all rows together look slower, but {} of them could not be rerun to find out: the "
                "rerun budget of {:g} s was spent",
                for_mean_, request_.budget_s));
        if (cut_short_ > 0)
            sentences.push_back(fmt::format(
                "all rows together look slower, but the reruns of {} of them were cut short: the "
                "rerun budget of {:g} s was spent",
                cut_short_, request_.budget_s));
        return sentences;
    }

  private:
    /// Every group has as much as the longest that ran may take.
    std::string enough(std::size_t groups) const {
        if (!(longest_s_ > 0)) return "";
        const double whole = longest_s_ * static_cast<double>(groups);
        return fmt::format(", rerun_budget_s = {:g} lets every one run to its last round",
                           10 * std::ceil(whole / 10));
    }

    const RerunRequest& request_;
    const report::RowNames& names_;
    std::vector<RowId> candidates_;
    std::size_t again_ = 0, for_mean_ = 0, cut_short_ = 0;
    double longest_s_ = 0;
};

/// The samples of the series, again.
runner::Request request_of(const RowId& series, const RerunRequest& rerun) {
    runner::Request request;
    request.patterns = {series.experiment};
    request.variants = {series.variant};
    for (const auto& [axis, value] : series.axes) request.axes[axis] = {value};
    request.profile = series.profile.value_or(Profile::toy);
    request.provenance = series.provenance;
    request.lock = false;
    request.command = rerun.command;
    request.fresh = true;
    request.part_of = rerun.night;
    request.suspects = {{std::string(store::rerun_mark), "of a night's candidates"}};
    return request;
}

const compare::Row* row_of(const std::vector<compare::Row>& rows, const RowId& wanted) {
    for (const compare::Row& row : rows)
        if (row.id == wanted) return &row;
    return nullptr;
}

compare::Row kept(compare::Row row) {
    row.a = row.b = nullptr;  // into arms that go
    return row;
}

/// One series, its values belonging to nothing: they were not made side by side.
compare::Arm unpaired(const compare::Series& series) {
    compare::Arm arm{"", {series}, {}};
    for (compare::Point& point : arm.series.front().points) point.pair.clear();
    return arm;
}

const compare::Series* find_series(const compare::Arm& arm, const RowId& row) {
    for (const compare::Series& series : arm.series)
        if (series.name == row) return &series;
    return nullptr;
}

bool has_no_values(const std::shared_ptr<const compare::Arm>& arm, const Group& group) {
    return arm && std::none_of(group.begin(), group.end(), [&](const NightRow* row) {
               const compare::Series* values = find_series(*arm, row->against_baseline.id);
               return values != nullptr && !values->points.empty();
           });
}

/// " (cannot open the file)"; empty: nothing is known.
std::string first_error(const compare::Arm& arm) {
    for (const compare::Series& series : arm.series)
        if (!series.errors.empty()) return fmt::format(" ({})", series.errors.front());
    return "";
}

/// The new values against those that the baseline's row has.
std::optional<compare::Row> against_baseline(const NightRow& row, const compare::Arm& again) {
    const compare::Series* values = find_series(again, row.against_baseline.id);
    if (values == nullptr || row.against_baseline.a == nullptr) return std::nullopt;
    const compare::Arm a = unpaired(*row.against_baseline.a), b = unpaired(*values);
    compare::Options options;
    options.margin = row.against_baseline.margin;
    const std::vector<compare::Row> rows = compare::compare(a, b, options);
    if (rows.size() != 1) return std::nullopt;
    return kept(rows.front());
}

class Rerunning {
  public:
    Rerunning(const Registry& registry, store::Store& store, const RerunRequest& request,
              const report::RowNames& names, const runner::Listener& listener)
        : registry_(registry),
          store_(store),
          request_(request),
          names_(names),
          listener_(listener) {}

    /// The share of its rounds that the budget allowed: 1, unless it ended them.
    double run(const Group& group, const std::filesystem::path& old_program, double budget_s) {
        const compare::Row& first = group.front()->against_baseline;
        if (first.b == nullptr) return 1;
        const bool control = first.id.experiment == runner::control_experiment;
        const auto old = control ? std::nullopt : identity_of(old_program);
        const auto plan = plan_again(first.id);
        if (!plan) return 1;
        if (old)
            if (const auto done = run_in_turns(group, first.id.series(), *old, budget_s))
                return *done;
        run_again(group, first.id.series(), *plan);
        return 1;
    }

    void tell(const Group& group, double share_s) const {
        if (!listener_) return;
        runner::Notice note;
        note.kind = "rerun";
        note.body = {{"row", names_.of(group.front()->against_baseline.id).text()},
                     {"share_s", share_s}};
        listener_(note);
    }

    RerunOutcome finish() {
        tell_of_machine();
        return std::move(outcome_);
    }
    bool interrupted() const { return outcome_.interrupted; }
    /// What samples took that were finished before an interruption.
    double seconds_before() const { return seconds_before_; }

  private:
    runner::Request unpaired_request(const RowId& series) const {
        runner::Request request = request_of(series, request_);
        request.rounds = request_.rounds;
        return request;
    }

    /// nullopt, which is said: what could be planned when the night began cannot be any more (an
    /// input file was changed since). A night of hours does not end with that.
    std::optional<runner::Plan> plan_again(const RowId& row) {
        try {
            return runner::make_plan(registry_, unpaired_request(row.series()));
        } catch (const UserError& error) {
            outcome_.warnings.push_back(
                fmt::format("{}: not rerun: {}", names_.of(row).text(), error.what()));
            return std::nullopt;
        }
    }

    /// nullopt: there is none, or it does not start any more (a library that it needs has gone).
    std::optional<runner::ProgramIdentity> identity_of(const std::filesystem::path& program) {
        if (program.empty()) return std::nullopt;
        const auto [at, is_new] = asked_.try_emplace(program);
        if (is_new) try {
                at->second = runner::ask_program(program);
            } catch (const UserError& error) {
                outcome_.warnings.push_back(
                    fmt::format("the baseline's program cannot be run again: {}", error.what()));
            }
        return at->second;
    }

    /// nullopt, which is said: the old program gives no value (what it needs beside it was not
    /// kept), so that there is nothing to be compared with.
    std::optional<double> run_in_turns(const Group& group, const RowId& series,
                                       const runner::ProgramIdentity& old, double budget_s) {
        runner::VersusRequest request;
        request.what = request_of(series, request_);
        request.old_program = old;
        request.new_program = runner::this_program();
        request.control = false;  // a candidate's own rounds tell enough
        request.decision.budget_s = budget_s;
        request.decision.margin = 1;
        std::set<std::string> metrics;
        for (const NightRow* row : group) {
            const compare::Row& against = row->against_baseline;
            metrics.insert(against.id.metric);
            request.decision.only.insert({against.id.metric, against.id.labels});
            request.decision.better[against.id.metric] = against.better;
            request.decision.margin = std::min(request.decision.margin, row->margin);
            request.compare.margins[against.id] = row->margin;
        }
        request.decision.metrics = {metrics.begin(), metrics.end()};
        const runner::VersusOutcome outcome = runner::versus(registry_, request, store_, listener_);
        outcome_.interrupted = outcome.interrupted;
        seconds_before_ += outcome.before_s;
        // One failed sample is no broken program: several rounds had to go by.
        if (!outcome.interrupted && !outcome.budget_ended &&
            has_no_values(outcome.old_arm, group)) {
            outcome_.warnings.push_back(fmt::format(
                "{}: the baseline's program, which was kept, gives no value of it any more{}; "
                "this one is run again and compared with the baseline's values",
                names_.of(group.front()->against_baseline.id).text(),
                first_error(*outcome.old_arm)));
            return std::nullopt;
        }
        for (NightRow* row : group) {
            if (const compare::Row* found = row_of(outcome.rows, row->against_baseline.id)) {
                row->rerun = kept(*found);
                row->rerun_paired = true;
            }
            warn_of_machine(*row, outcome);
        }
        if (!outcome.budget_ended) return 1;
        return static_cast<double>(outcome.rounds) / request.decision.max_rounds;
    }

    /// Both programs are alike tonight, and both slower than the baseline was: not the code.
    void warn_of_machine(const NightRow& row, const runner::VersusOutcome& outcome) {
        if (!row.rerun || row.rerun->verdict != compare::RowVerdict::same || !outcome.new_arm)
            return;
        const auto still = against_baseline(row, *outcome.new_arm);
        if (!still || still->verdict != compare::RowVerdict::slower) return;
        by_machine_[request_.machine_changes(row)].push_back(
            {row.against_baseline.id, change_words(*still)});
    }

    /// One sentence for all rows of which the same changed.
    void tell_of_machine() {
        for (const auto& [changes, slower] : by_machine_) {
            std::vector<RowId> ids;
            for (const SlowedRow& row : slower) ids.push_back(row.id);
            const std::string which =
                slower.size() == 1
                    ? fmt::format("{}: {}", names_.of(ids.front()).text(), slower.front().change)
                    : fmt::format("{} rows are slower", slower.size());
            outcome_.warnings.push_back(fmt::format(
                "{} than the baseline, and so is the baseline's own program tonight: the machine "
                "or its software, not this code{}; {}",
                which, slower.size() == 1 ? "" : fmt::format(" ({})", few_names(ids, names_)),
                changes.empty() ? fmt::format("nothing recorded of it changed ({})",
                                              fmt::join(measure::machine_suspects, ", "))
                                : "since then changed: " + changes));
        }
    }

    void run_again(const Group& group, const RowId& series, const runner::Plan& plan) {
        const runner::Outcome outcome =
            runner::execute(registry_, plan, unpaired_request(series), store_, listener_);
        outcome_.interrupted = outcome.interrupted;
        seconds_before_ += outcome.seconds_before;
        if (outcome.interrupted) return;
        const compare::Arm again = compare::arm_of_sessions(registry_, store_, {outcome.session});
        for (NightRow* row : group) row->rerun = against_baseline(*row, again);
    }

    const Registry& registry_;
    store::Store& store_;
    const RerunRequest& request_;
    const report::RowNames& names_;
    const runner::Listener& listener_;
    std::map<std::filesystem::path, std::optional<runner::ProgramIdentity>> asked_;
    double seconds_before_ = 0;
    struct SlowedRow {
        RowId id;
        std::string change;
    };
    std::map<std::string, std::vector<SlowedRow>> by_machine_;  ///< by what changed
    RerunOutcome outcome_;
};

/// Of a group whose rounds the budget ended.
Group undecided(const Group& rows) {
    Group open;
    for (NightRow* row : rows)
        if (!row->rerun || row->rerun->verdict == compare::RowVerdict::ambiguous)
            open.push_back(row);
    return open;
}

/// Against a division by none.
constexpr double least_share = 0.01;

}  // namespace

RerunOutcome rerun_candidates(const Registry& registry, store::Store& store,
                              const RerunRequest& request, std::vector<NightRow>& rows,
                              const runner::Listener& listener) {
    std::map<GroupKey, Group> groups;
    for (NightRow& row : rows)
        if ((row.candidate || row.rerun_for_mean) && !row.muted)
            groups[{row.against_baseline.id.series(), request.old_program(row)}].push_back(&row);
    if (groups.empty()) return {};
    std::vector<RowId> ids;
    for (const NightRow& row : rows) ids.push_back(row.against_baseline.id);
    const report::RowNames names(ids);
    Rerunning rerunning(registry, store, request, names, listener);
    Spent spent(request, names);
    const auto started = Clock::now();
    const auto seconds = [&] {
        return std::chrono::duration<double>(Clock::now() - started).count() +
               rerunning.seconds_before();
    };
    std::size_t left = groups.size();
    for (const Turn& turn : turns_of(groups, request)) {
        const double before = seconds(), rest = request.budget_s - before;
        const double share = rest / static_cast<double>(left);  // of those that still wait
        --left;
        if (rest <= 0) {
            spent.left_open(turn.rows);
            continue;
        }
        rerunning.tell(turn.rows, share);
        const double done = rerunning.run(turn.rows, turn.old_program, share);
        if (rerunning.interrupted()) return rerunning.finish();
        const double took = seconds() - before;
        for (NightRow* row : turn.rows)
            row->seconds += took / static_cast<double>(turn.rows.size());
        spent.took(took / std::max(done, least_share));
        if (done < 1) spent.left_open(undecided(turn.rows));
    }
    RerunOutcome outcome = rerunning.finish();
    outcome.seconds = seconds();
    for (std::string& sentence : spent.warnings(groups.size()))
        outcome.warnings.push_back(std::move(sentence));
    return outcome;
}

}  // namespace assay::gate
