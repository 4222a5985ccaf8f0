// assay data: what corpora, traces and models are known, and bringing them onto this machine.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "suite/cli/command.hpp"
#include "suite/cli/terminal/live_progress.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/cli/terminal/printable_output.hpp"
#include "suite/cli/terminal/terminal.hpp"
#include "suite/data/catalog.hpp"
#include "suite/data/check.hpp"
#include "suite/data/fetch.hpp"

namespace assay::cli {

namespace {

nlohmann::json describe(const data::Entry& entry) {
    const auto path = data::locate(entry.id);
    nlohmann::json row = {{"id", entry.id},         {"kind", data::to_string(entry.kind)},
                          {"says", entry.says},     {"licence", entry.licence},
                          {"origin", entry.origin}, {"file", entry.file},
                          {"path", nullptr},        {"package", nullptr},
                          {"sha256", nullptr},      {"size_bytes", nullptr}};
    if (path) row["path"] = path->string();
    if (entry.debian) row["package"] = entry.debian->package;
    if (entry.sha256) row["sha256"] = *entry.sha256;
    if (entry.size_bytes) row["size_bytes"] = *entry.size_bytes;
    return row;
}

std::string how_to_fetch(const data::Entry& entry) {
    const std::string command = data::fetch_command(entry);
    return entry.debian
               ? fmt::format("{}  (needs the Debian package {})", command, entry.debian->package)
               : command;
}

void print_entry(const data::Entry& entry) {
    const auto path = data::locate(entry.id);
    const std::size_t columns = text_columns();
    std::cout << fmt::format("\n{}  [{}, {}]\n", entry.id, data::to_string(entry.kind),
                             entry.licence)
              << hanging("  ", entry.says, columns) << hanging("  from    ", entry.origin, columns);
    if (path) {
        print_line(std::cout, "  here    " + path->string());
        return;
    }
    if (!entry.obtain.empty()) std::cout << hanging("  obtain  ", entry.obtain, columns);
    std::cout << hanging("  absent  ", how_to_fetch(entry), columns);
}

int list(bool json) {
    if (json) {
        nlohmann::json rows = nlohmann::json::array();
        for (const data::Entry& entry : data::catalog()) rows.push_back(describe(entry));
        print_json(rows);
        return exit_ok;
    }
    print_line(std::cout, "data folder: " + data::folder().string());
    for (const data::Entry& entry : data::catalog()) print_entry(entry);
    return exit_ok;
}

/// How far reading a folder has come, on standard error, once it has taken a second: on a terminal
/// a line that is written over, else a line now and then.
class FolderProgress {
  public:
    FolderProgress() = default;
    FolderProgress(const FolderProgress&) = delete;
    FolderProgress& operator=(const FolderProgress&) = delete;
    ~FolderProgress() {
        if (drawn_ && on_terminal_) overwrite_line("");
    }

    void on(std::size_t done, std::size_t all) {
        using namespace std::chrono_literals;
        const auto now = std::chrono::steady_clock::now();
        if (now < next_) return;
        next_ = now + (on_terminal_ ? 200ms : 5s);
        drawn_ = true;
        const std::string text =
            fmt::format("{} of {} files read ({} %)", done, all, 100 * done / all);
        if (on_terminal_) {
            overwrite_line(text);
        } else {
            std::cerr << text << '\n';
        }
    }

  private:
    bool on_terminal_ = terminal_width() > 0, drawn_ = false;
    std::chrono::steady_clock::time_point next_ =
        std::chrono::steady_clock::now() + std::chrono::seconds(1);
};

std::filesystem::path fetch_showing_progress(const Registry& registry, const std::string& id,
                                             const std::string& from) {
    FolderProgress progress;
    return data::fetch(id, from.empty() ? std::nullopt : std::optional<std::filesystem::path>(from),
                       registry.data_converters(), registry.data_formats(),
                       [&](std::size_t done, std::size_t all) { progress.on(done, all); });
}

int fetch(const Registry& registry, const std::string& id, const std::string& from, bool json) {
    const auto file = fetch_showing_progress(registry, id, from);
    const data::Entry& entry = data::find(id);
    if (json) {
        print_json(describe(entry));
    } else {
        print_line(std::cout, fmt::format("{}: {} ({} bytes, licence {})", id, file.string(),
                                          std::filesystem::file_size(file), entry.licence));
    }
    return exit_ok;
}

int check(const Registry& registry, const std::vector<std::string>& ids, bool json) {
    const DataFormats formats = registry.data_formats();
    std::vector<data::Check> results;
    if (ids.empty()) results = data::check_all(formats);
    for (const std::string& id : ids) results.push_back(data::check(data::find(id), formats));

    nlohmann::json rows = nlohmann::json::array();
    int exit_code = exit_ok;
    for (const data::Check& result : results) {
        const auto state = data::to_string(result.state);
        const bool bad =
            result.state == data::State::changed || result.state == data::State::malformed;
        // Absent data is only wrong where it was asked for by name.
        if (bad || (result.state == data::State::absent && !ids.empty())) exit_code = exit_error;
        if (json) {
            rows.push_back({{"id", result.id},
                            {"file", result.file.string()},
                            {"state", state},
                            {"says", result.says}});
        } else {
            const std::size_t columns = text_columns();
            std::cout << hanging(fmt::format("{:<22} {:<10} ", result.id, state),
                                 fmt::format("{}{}{}", result.file.string(),
                                             result.says.empty() ? "" : ": ", result.says),
                                 columns);
            if (bad)
                std::cout << hanging(fmt::format("{:<22} ", ""),
                                     "to mend it: " + how_to_fetch(data::find(result.id)), columns);
        }
    }
    if (json) print_json(rows);
    return exit_code;
}

}  // namespace

void add_data_command(CLI::App& program, Context& context) {
    struct Options {
        std::string id, from;
        std::vector<std::string> ids;
        bool json = false;
    };
    const auto options = std::make_shared<Options>();
    CLI::App* data =
        program.add_subcommand("data", "Corpora, traces and models: what is known, fetch, check");
    data->require_subcommand(1);
    data->footer(
        "Data lies in $ASSAY_DATA, else in assay/data under the XDG data folder; none of it is "
        "part of\n"
        "Assay, and each file has its licence in a manifest beside it.\n"
        "Examples:\n"
        "  assay data list\n"
        "  assay data fetch bible-kjv\n"
        "  assay data check");

    CLI::App* lists =
        data->add_subcommand("list", "What is known, where it comes from, is it here");
    lists->add_flag("--json", options->json, "Print JSON");
    lists->footer(
        "Examples:\n"
        "  assay data list\n"
        "  assay data list --json");
    lists->callback(
        [&context, options] { context.action = [options] { return list(options->json); }; });

    CLI::App* fetches = data->add_subcommand("fetch", "Bring one into the data folder");
    fetches->add_option("id", options->id, "Which one (assay data list)")->required();
    fetches->add_option(
        "--from", options->from,
        "The file, for data that is not in a package; or the folder it is summed from");
    fetches->add_flag("--json", options->json, "Print JSON");
    fetches->footer(
        "Examples:\n"
        "  assay data fetch bible-kjv                      # out of a Debian package\n"
        "  assay data fetch bamboo-p3-trace --from ~/bamboo/traces/p3-trace.csv\n"
        "  assay data fetch smartmoe-loads --from ~/SmartMoE-AE/moe_trace");
    fetches->callback([&context, options] {
        context.action = [&context, options] {
            return fetch(context.registry, options->id, options->from, options->json);
        };
    });

    CLI::App* checks = data->add_subcommand("check", "Format and hash of everything that is here");
    checks->add_option("id", options->ids, "Only these; they must be here");
    checks->add_flag("--json", options->json, "Print JSON");
    checks->footer(
        "Examples:\n"
        "  assay data check\n"
        "  assay data check bible-kjv    # exit code 1 when it is not here");
    checks->callback([&context, options] {
        context.action = [&context, options] {
            return check(context.registry, options->ids, options->json);
        };
    });
    data->group("Look");  // after its own subcommands, which would take it over
}

}  // namespace assay::cli
