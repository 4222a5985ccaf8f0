// assay mute, assay unmute: rows that are shown but neither warn nor fail.
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "suite/base/encoding.hpp"
#include "suite/base/error.hpp"
#include "suite/base/suggested_command.hpp"
#include "suite/cli/command.hpp"
#include "suite/cli/database.hpp"
#include "suite/cli/terminal/print_table.hpp"
#include "suite/cli/terminal/printable_output.hpp"
#include "suite/gate/row_patterns.hpp"
#include "suite/store/ids.hpp"
#include "suite/store/nights.hpp"

namespace assay::cli {
namespace {

/// "2026-12-01", with or without a time; compared as text with ISO 8601.
void check_date(const std::string& text) {
    constexpr std::string_view shape = "0000-00-00T00:00:00.000Z";
    bool right = text.size() >= 10 && text.size() <= shape.size();
    for (std::size_t i = 0; right && i < text.size(); ++i)
        right = shape[i] == '0' ? std::isdigit(static_cast<unsigned char>(text[i])) != 0
                                : text[i] == shape[i];
    const auto number = [&](std::size_t at, std::size_t digits) {
        return right ? std::stoi(text.substr(at, digits)) : 0;
    };
    const std::chrono::year_month_day day{std::chrono::year(number(0, 4)),
                                          std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                          std::chrono::day(static_cast<unsigned>(number(8, 2)))};
    if (!right || !day.ok())
        throw UserError(fmt::format("--until {}: write a date, 2026-12-01, in UTC", text));
    if (text <= store::now_utc())
        throw UserError(fmt::format("--until {}: that is over (dates are UTC)", text));
}

struct MuteOptions {
    store::MuteRecord record;
    bool replace = false, all = false, json = false;
};

/// Who types this; empty: the system does not tell.
std::string login_name() {
    if (const passwd* user = ::getpwuid(::geteuid()); user != nullptr) return user->pw_name;
    const char* name = std::getenv("USER");
    return name == nullptr ? "" : name;
}

/// "for good", "until 2027-01-01", "ran out 2026-11-01", "ended 2026-11-01 by ada: quiet again"
std::string end_text(const store::MuteRecord& mute, const std::string& now) {
    if (!mute.ended.empty())
        return fmt::format("ended {:.10}{}{}", mute.ended,
                           mute.ended_by.empty() ? "" : " by " + mute.ended_by,
                           mute.ended_why.empty() ? "" : ": " + mute.ended_why);
    if (mute.until.empty()) return "for good";
    return (store::holds(mute, now) ? "until " : "ran out ") + mute.until;
}

int list_mutes(const MuteOptions& options, const Context& context) {
    using Mute = store::MuteRecord;
    store::Store store = open_existing(context);
    const store::Nights nights(store);
    const std::string now = store::now_utc();
    const report::Table<Mute> table{
        {"pattern", "pattern", &Mute::pattern},
        {"metric", "metric", &Mute::metric, report::or_else("all")},
        {"", "how long", [&](const Mute& mute) { return end_text(mute, now); }},
        {"at", "since", &Mute::at, report::minute},
        {"who", "by", &Mute::who},
        {"why", "why", &Mute::why},
        {"until", "", &Mute::until},
        {"holds", "", [&](const Mute& mute) { return store::holds(mute, now); }},
        {"ended", "", [](const Mute& mute) { return report::text_or_null(mute.ended); }},
        {"ended_by", "", &Mute::ended_by},
        {"ended_why", "", &Mute::ended_why}};
    print_table(table, options.all ? nights.all_mutes() : nights.mutes(), options.json,
                "nothing is muted\n");
    return exit_ok;
}

/// The rows of all nights that it names.
std::vector<RowId> rows_of(const store::Nights& nights, const store::MuteRecord& mute) {
    std::set<std::pair<std::string, std::string>> asked;
    std::set<RowId> rows;
    for (const store::NightRecord& night : nights.nights("")) {
        if (!asked.emplace(night.suite, night.machine).second) continue;
        for (const store::RowOfNight& of : nights.rows(night.suite, night.machine))
            rows.insert(of.row.id);
    }
    std::vector<RowId> named;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(named),
                 [&](const RowId& row) { return gate::mutes(mute, row); });
    return named;
}

/// Somebody had a reason: it is not to go without anybody having read it.
void refuse_to_replace(const store::Nights& nights, const store::MuteRecord& wanted) {
    for (const store::MuteRecord& mute : nights.mutes())
        if (mute.pattern == wanted.pattern && mute.metric == wanted.metric &&
            store::holds(mute, store::now_utc()))
            throw UserError(fmt::format(
                "'{}' is already {}. --replace puts yours in its place ({} goes on showing the old "
                "one), {} ends it",
                mute.pattern, gate::mute_words(mute), suggested("mute --all"),
                suggested("unmute " + shell_quoted(mute.pattern))));
}

/// A list takes no pattern and a mute is no list: half of what was asked for would not be done.
void refuse_contradictions(const MuteOptions& options) {
    const store::MuteRecord& record = options.record;
    const char* const of_list = options.all ? "--all" : options.json ? "--json" : nullptr;
    if (!record.pattern.empty() && of_list != nullptr)
        throw UserError(fmt::format(
            "{0} is for the list of mutes: leave it out to mute '{1}', or the pattern to list",
            of_list, record.pattern));
    const char* const of_mute = !record.until.empty()    ? "--until"
                                : !record.why.empty()    ? "--why"
                                : !record.metric.empty() ? "--metric"
                                : options.replace        ? "--replace"
                                                         : nullptr;
    if (record.pattern.empty() && of_mute != nullptr)
        throw UserError(fmt::format(
            "{} says how to mute, but not what: {} mutes, {} lists what is muted", of_mute,
            suggested(fmt::format("mute 'ROW PATTERN' {} …", of_mute)), suggested("mute")));
}

int mute(const MuteOptions& options, const Context& context) {
    refuse_contradictions(options);
    store::MuteRecord record = options.record;
    if (record.pattern.empty()) return list_mutes(options, context);
    if (!record.until.empty()) check_date(record.until);
    store::Store store = open_existing_to_write(context);
    store::Nights nights(store);
    if (!options.replace) refuse_to_replace(nights, record);
    record.who = login_name();
    nights.mute(record);
    const std::vector<RowId> rows = rows_of(nights, record);
    if (rows.empty())
        std::cerr << fmt::format(
            "no night has seen such a row yet; {} and the reports say how rows are called\n",
            suggested("regressions"));
    print_line(
        std::cout,
        fmt::format("muted{}: {}{}", record.until.empty() ? " for good" : " until " + record.until,
                    record.pattern, record.metric.empty() ? "" : " · " + record.metric));
    if (!rows.empty())
        std::cout << fmt::format("so far {}: {}\n",
                                 rows.size() == 1 ? "1 row" : fmt::format("{} rows", rows.size()),
                                 gate::few_names(rows));
    return exit_ok;
}

int unmute(const MuteOptions& options, const Context& context) {
    const store::MuteRecord& record = options.record;
    store::Store store = open_existing_to_write(context);
    if (!store::Nights(store).unmute(record.pattern, record.metric, login_name(), record.why))
        throw UserError(
            fmt::format("'{}' is not muted; {} lists what is", record.pattern, suggested("mute")));
    print_line(std::cout, "no longer muted: " + record.pattern);
    return exit_ok;
}

CLI::App* add_muting(CLI::App& program, Context& context, const char* name, const char* says,
                     int (*act)(const MuteOptions&, const Context&),
                     const std::shared_ptr<MuteOptions>& options) {
    CLI::App* command = program.add_subcommand(name, says);
    command->group("Gate");
    command->add_option("pattern", options->record.pattern,
                        "Row or series as the reports print it; * and ? as in a shell");
    command->add_option("--metric", options->record.metric, "Pattern of the metric (default: all)");
    command->add_option("--why", options->record.why, "For those who read it later");
    add_database_option(*command, context);
    command->callback([options, act, &context] {
        context.action = [options, act, &context] { return act(*options, context); };
    });
    return command;
}

}  // namespace

void add_mute_commands(CLI::App& program, Context& context) {
    auto options = std::make_shared<MuteOptions>();
    CLI::App* command =
        add_muting(program, context, "mute", "Show rows without warning or failing", mute, options);
    command->add_option("--until", options->record.until, "Date at which it ends (UTC)")
        ->type_name("DATE");
    command->add_flag("--replace", options->replace,
                      "In place of a mute of the same pattern, which is kept for --all");
    command->add_flag("--all", options->all, "List those that ended, too");
    command->add_flag("--json", options->json, "Print the list as JSON");
    command->footer(
        "Without a pattern: what is muted, since when, by whom.\n"
        "Where a report tells rows of one name apart,\n"
        "'lte/fig8 lte (small)', so may the pattern: '* (small)'.\n"
        "Example:\n  assay mute 'lazarus/x_start *' --until 2031-12-31 --why 'known, issue 12'");
    auto undone = std::make_shared<MuteOptions>();
    command = add_muting(program, context, "unmute", "Let muted rows warn and fail again", unmute,
                         undone);
    command->get_option("pattern")->required();
    command->footer("Example:\n  assay unmute 'lazarus/x_start *'    # as it was muted");
}

}  // namespace assay::cli
