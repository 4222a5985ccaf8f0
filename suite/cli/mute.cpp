// assay mute, assay unmute: rows that are shown but neither warn nor fail.
#include <fmt/format.h>
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cctype>
#include <chrono>
#include <iostream>
#include <memory>
#include <set>

#include "suite/cli/command.hpp"
#include "suite/cli/reading_database.hpp"
#include "suite/cli/terminal.hpp"
#include "suite/experiment/error.hpp"
#include "suite/gate/night_wording.hpp"
#include "suite/report/report.hpp"
#include "suite/store/nights.hpp"
#include "suite/store/timestamp.hpp"

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

int list_mutes(const Context& context) {
    store::Store store = open_existing(context);
    const std::vector<store::MuteRecord> mutes = store::Nights(store).mutes();
    report::Grid grid = {{"pattern", "metric", "until", "since", "why"}};
    for (const store::MuteRecord& mute : mutes)
        grid.push_back({mute.pattern, mute.metric.empty() ? "all" : mute.metric,
                        mute.until.empty() ? "for good" : mute.until, mute.at.substr(0, 16),
                        mute.why});
    std::cout << (mutes.empty() ? "nothing is muted\n" : report::text_table(grid, text_columns()));
    return exit_ok;
}

/// Whether any night has seen such a row.
bool is_known(const store::Nights& nights, const store::MuteRecord& mute) {
    std::set<std::pair<std::string, std::string>> asked;
    std::set<RowId> rows;
    for (const store::NightRecord& night : nights.nights("")) {
        if (!asked.emplace(night.suite, night.machine).second) continue;
        for (const store::RowOfNight& of : nights.rows(night.suite, night.machine))
            rows.insert(of.row.id);
    }
    return std::any_of(rows.begin(), rows.end(),
                       [&](const RowId& row) { return gate::mutes(mute, row); });
}

int mute(const store::MuteRecord& record, const Context& context) {
    if (record.pattern.empty()) return list_mutes(context);
    if (!record.until.empty()) check_date(record.until);
    store::Store store = open_existing_to_write(context);
    store::Nights nights(store);
    nights.mute(record);
    if (!is_known(nights, record))
        std::cerr
            << "no night has seen such a row yet; `assay regressions` and the reports say how "
               "rows are called\n";
    std::cout << fmt::format("muted{}: {}{}\n",
                             record.until.empty() ? " for good" : " until " + record.until,
                             record.pattern, record.metric.empty() ? "" : " · " + record.metric);
    return exit_ok;
}

int unmute(const store::MuteRecord& record, const Context& context) {
    store::Store store = open_existing_to_write(context);
    if (!store::Nights(store).unmute(record.pattern, record.metric))
        throw UserError(
            fmt::format("'{}' is not muted; `assay mute` lists what is", record.pattern));
    std::cout << fmt::format("no longer muted: {}\n", record.pattern);
    return exit_ok;
}

CLI::App* add_muting(CLI::App& program, Context& context, const char* name, const char* says,
                     int (*act)(const store::MuteRecord&, const Context&),
                     const std::shared_ptr<store::MuteRecord>& record) {
    CLI::App* command = program.add_subcommand(name, says);
    command->group("Gate");
    command->add_option("pattern", record->pattern,
                        "Series as the reports print it; * and ? as in a shell");
    command->add_option("--metric", record->metric, "Pattern of the metric (default: all)");
    add_database_option(*command, context);
    command->callback([record, act, &context] {
        context.action = [record, act, &context] { return act(*record, context); };
    });
    return command;
}

}  // namespace

void add_mute_commands(CLI::App& program, Context& context) {
    auto record = std::make_shared<store::MuteRecord>();
    CLI::App* command =
        add_muting(program, context, "mute", "Show rows without warning or failing", mute, record);
    command->add_option("--until", record->until, "Date at which it ends (UTC)")->type_name("DATE");
    command->add_option("--why", record->why, "For those who read it later");
    command->footer(
        "Without a pattern: what is muted. Where a report tells rows of one name apart,\n"
        "'lte/fig8 lte (small)', so may the pattern: '* (small)'.\n"
        "Example:\n  assay mute 'lazarus/x_start *' --until 2031-12-31 --why 'known, issue 12'");
    auto undone = std::make_shared<store::MuteRecord>();
    command = add_muting(program, context, "unmute", "Let muted rows warn and fail again", unmute,
                         undone);
    command->get_option("pattern")->required();
    command->footer("Example:\n  assay unmute 'lazarus/x_start *'    # as it was muted");
}

}  // namespace assay::cli
