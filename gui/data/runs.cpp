#include "gui/data/runs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>

#include <QDateTime>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "suite/base/error.hpp"
#include "suite/measure/statistics/quantile.hpp"
#include "suite/store/runner_process.hpp"

namespace assay::gui {
namespace {

constexpr std::size_t gaps_that_count = 20;

std::optional<double> time_left(const store::Store& store, const Run& run) {
    const long left = run.session.planned - run.done;
    if (left <= 0) return std::nullopt;
    std::vector<double> starts;  // in s
    for (const store::MeasuredSample& sample : store.session_metrics(run.session.id).samples) {
        const QDateTime at =
            QDateTime::fromString(QString::fromStdString(sample.started), Qt::ISODateWithMs);
        if (at.isValid()) starts.push_back(static_cast<double>(at.toMSecsSinceEpoch()) / 1000);
    }
    std::sort(starts.begin(), starts.end());
    std::vector<double> gaps;
    for (std::size_t i = starts.size(); i-- > 1 && gaps.size() < gaps_that_count;)
        gaps.push_back(starts[i] - starts[i - 1]);
    if (gaps.empty()) return std::nullopt;
    return static_cast<double>(left) * statistics::median(gaps);
}

Run read_run(const store::Store& store, const store::Session& session) {
    Run run{session, session.state == "running" && store.has_living_runner(session.id), 0, {}, {},
            {}};
    const store::SessionProgress progress = store.progress(session.id);
    run.done = progress.done;
    if (!run.runs) return run;
    run.sample = progress.running;
    run.process = store::runner_of(store.path(), session.id);
    run.left_s = time_left(store, run);
    return run;
}

/// As a shell splits them: quotes of both kinds, and \\ before a character.
QStringList shell_words(const std::string& typed) {
    QStringList words;
    std::string word;
    bool is_begun = false;
    char quote = 0;
    for (std::size_t i = 0; i < typed.size(); ++i) {
        const char c = typed[i];
        if (c == '\\' && quote != '\'' && i + 1 < typed.size()) {
            word += typed[++i];
            is_begun = true;
        } else if (quote != 0 ? c == quote : c == '\'' || c == '"') {
            quote = quote != 0 ? 0 : c;
            is_begun = true;
        } else if (quote == 0 && (c == ' ' || c == '\t')) {
            if (is_begun) words << QString::fromStdString(word);
            word.clear();
            is_begun = false;
        } else {
            word += c;
            is_begun = true;
        }
    }
    if (is_begun) words << QString::fromStdString(word);
    return words;
}

QString word(const std::string& text) { return QString::fromStdString(text); }

}  // namespace

std::vector<Run> read_runs(const store::Store& store, std::size_t most_ended) {
    std::vector<Run> running, ended;
    for (const store::Session& session : store.sessions()) {
        if (session.state != "running" && ended.size() == most_ended) continue;
        Run run = read_run(store, session);
        if (run.runs)
            running.push_back(std::move(run));
        else if (ended.size() < most_ended)
            ended.push_back(std::move(run));
    }
    for (Run& run : ended) running.push_back(std::move(run));
    return running;
}

void stop_run(const std::filesystem::path& database, const std::string& session) {
    const auto process = store::runner_of(database, session);
    if (!process)
        throw UserError(fmt::format(
            "nobody here runs session {:.8}: it has ended, or its runner is another user's or in "
            "another container; stop it there with Ctrl-C",
            session));
    if (::kill(*process, SIGINT) != 0)
        throw UserError(
            fmt::format("process {} cannot be stopped: {}", *process, std::strerror(errno)));
}

QStringList run_arguments(const RunChoice& choice, const std::filesystem::path& database) {
    QStringList words{"run"};
    words += QString::fromStdString(choice.experiments).split(' ', Qt::SkipEmptyParts);
    if (!choice.profile.empty()) words << "--profile" << word(choice.profile);
    if (!choice.mode.empty()) words << "--mode" << word(choice.mode);
    for (const std::string& variant : choice.variants) words << "--variant" << word(variant);
    for (const auto& [axis, values] : choice.axes)
        words << "-a" << word(fmt::format("{}={}", axis, fmt::join(values, ",")));
    if (choice.rounds > 0) words << "--rounds" << QString::number(choice.rounds);
    words += shell_words(choice.more);
    if (database != store::default_path()) words << "--db" << word(database.string());
    return words;
}

RunPlan read_plan(const QByteArray& text) {
    RunPlan plan;
    plan.said = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
    if (!plan.said.is_object() || !plan.said.contains("samples"))
        throw UserError("what `assay run --dry-run` tells is no plan");
    plan.seconds = plan.said.value("seconds", 0.0);
    plan.bytes = plan.said.value("bytes", 0.0);
    plan.left_out = plan.said.value("left_out", std::vector<std::string>());
    for (const auto& sample : plan.said["samples"])
        plan.samples.push_back({.number = static_cast<int>(plan.samples.size()) + 1,
                                .experiment = sample.value("experiment", ""),
                                .variant = sample.value("variant", ""),
                                .axes = to_string(case_from_json(sample.at("case"))),
                                .scenario = sample.value("scenario", ""),
                                .seed = sample.value("seed", std::uint64_t{0}),
                                .seconds = sample.value("seconds", 0.0)});
    return plan;
}

}  // namespace assay::gui
