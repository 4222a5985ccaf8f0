#include "suite/gate/reruns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "suite/base/error.hpp"
#include "suite/compare/read_arm.hpp"
#include "suite/gate/output/night_words.hpp"
#include "suite/runner/versus/versus.hpp"

namespace assay::gate {
namespace {

using Clock = std::chrono::steady_clock;

/// Candidates of one series with one old program: one rerun answers all of them.
using Group = std::vector<NightRow*>;
using GroupKey = std::pair<RowId, std::filesystem::path>;

/// The samples of the series, again.
runner::Request request_of(const RowId& series, const RerunRequest& rerun) {
    runner::Request request;
    request.patterns = {series.experiment};
    request.variants = {series.variant};
    for (const auto& [axis, value] : series.axes) request.axes[axis] = {value};
    request.profile = series.profile.value_or(Profile::toy);
    request.provenance = series.provenance;
    request.lock = rerun.lock;
    request.command = rerun.command;
    request.fresh = true;
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

    void run(const Group& group, const std::filesystem::path& old_program, double budget_s) {
        const compare::Row& first = group.front()->against_baseline;
        if (first.b == nullptr) return;
        const bool control = first.id.experiment == runner::control_experiment;
        const auto old = control ? std::nullopt : identity_of(old_program);
        const auto plan = plan_again(first.id);
        if (!plan) return;
        if (old)
            run_in_turns(group, first.id.series(), *old, budget_s);
        else
            run_again(group, first.id.series(), *plan);
    }

    RerunOutcome finish() { return std::move(outcome_); }
    bool interrupted() const { return outcome_.interrupted; }

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

    void run_in_turns(const Group& group, const RowId& series, const runner::ProgramIdentity& old,
                      double budget_s) {
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
            request.decision.margin = std::min(request.decision.margin, row->margin);
            request.compare.margins[against.id] = row->margin;
        }
        request.decision.metrics = {metrics.begin(), metrics.end()};
        const runner::VersusOutcome outcome = runner::versus(registry_, request, store_, listener_);
        outcome_.interrupted = outcome.interrupted;
        for (NightRow* row : group) {
            if (const compare::Row* found = row_of(outcome.rows, row->against_baseline.id)) {
                row->rerun = kept(*found);
                row->rerun_paired = true;
            }
            warn_of_machine(*row, outcome);
        }
    }

    /// Both programs are alike tonight, and both slower than the baseline was: not the code.
    void warn_of_machine(const NightRow& row, const runner::VersusOutcome& outcome) {
        if (!row.rerun || row.rerun->verdict != compare::RowVerdict::same || !outcome.new_arm)
            return;
        const auto still = against_baseline(row, *outcome.new_arm);
        if (!still || still->verdict != compare::RowVerdict::slower) return;
        outcome_.warnings.push_back(fmt::format(
            "{}: {} than the baseline, and so is the baseline's own program tonight: the machine "
            "or its software, not this code",
            names_.of(row.against_baseline.id).text(), change_words(*still)));
    }

    void run_again(const Group& group, const RowId& series, const runner::Plan& plan) {
        const runner::Outcome outcome =
            runner::execute(registry_, plan, unpaired_request(series), store_, listener_);
        outcome_.interrupted = outcome.interrupted;
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
    RerunOutcome outcome_;
};

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
    const auto started = Clock::now();
    std::size_t left = groups.size(), skipped = 0;
    for (const auto& [key, group] : groups) {
        const double spent = std::chrono::duration<double>(Clock::now() - started).count();
        const double share = (request.budget_s - spent) / static_cast<double>(left--);
        if (rerunning.interrupted()) break;
        if (share > 0)
            rerunning.run(group, key.second, share);
        else
            skipped += group.size();
    }
    RerunOutcome outcome = rerunning.finish();
    if (skipped > 0)
        outcome.warnings.push_back(
            fmt::format("{} candidates were not rerun: the budget of {:g} s was spent", skipped,
                        request.budget_s));
    return outcome;
}

}  // namespace assay::gate
