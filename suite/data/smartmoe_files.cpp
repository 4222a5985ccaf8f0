#include "suite/data/smartmoe_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

namespace assay::data {

namespace {

namespace fs = std::filesystem;

struct LogName {
    std::int64_t iteration = 0;
    std::size_t rank = 0;
};

/// Reverse of smartmoe_file_name(); nothing for any other name.
std::optional<LogName> log_name(const std::string& name) {
    const char *at = name.data(), *const end = at + name.size();
    const auto skip = [&](std::string_view text) {
        if (!std::string_view(at, static_cast<std::size_t>(end - at)).starts_with(text))
            return false;
        at += text.size();
        return true;
    };
    const auto number = [&](auto& value) {
        const auto [stop, error] = std::from_chars(at, end, value);
        at = stop;
        return error == std::errc{};
    };
    LogName log;
    if (skip("table_iter") && number(log.iteration) && skip("_rank") && number(log.rank) &&
        skip(".log") && name == smartmoe_file_name(log.iteration, log.rank))
        return log;
    return std::nullopt;
}

std::size_t iteration_count(const SmartmoeLogs& logs) {
    return static_cast<std::size_t>(
        (logs.last_iteration - logs.first_iteration) / logs.iteration_step + 1);
}

/// Which logs should be there and are, [iteration][rank].
class Roster {
  public:
    explicit Roster(const SmartmoeLogs& logs) : logs_(logs), there_(smartmoe_file_count(logs)) {}

    /// False where no such log is known.
    bool note(const LogName& log) {
        if (log.rank >= logs_.ranks || log.iteration < logs_.first_iteration ||
            log.iteration > logs_.last_iteration)
            return false;
        const std::int64_t after = log.iteration - logs_.first_iteration;
        if (after % logs_.iteration_step != 0) return false;
        const auto row = static_cast<std::size_t>(after / logs_.iteration_step);
        there_[row * logs_.ranks + log.rank] = true;
        return true;
    }

    /// What is missing: iterations that lack every rank, and single files.
    std::vector<std::string> missing() const {
        std::vector<std::string> names;
        for (std::size_t row = 0; row < iteration_count(logs_); ++row) {
            const std::int64_t iteration =
                logs_.first_iteration + static_cast<std::int64_t>(row) * logs_.iteration_step;
            std::vector<std::string> files;
            for (std::size_t rank = 0; rank < logs_.ranks; ++rank)
                if (!there_[row * logs_.ranks + rank])
                    files.push_back(smartmoe_file_name(iteration, rank));
            if (files.size() == logs_.ranks && logs_.ranks > 1)
                files = {fmt::format("every rank of iteration {}", iteration)};
            names.insert(names.end(), files.begin(), files.end());
        }
        return names;
    }

  private:
    const SmartmoeLogs& logs_;
    std::vector<bool> there_;
};

/// "iterations 1 to 5001 in steps of 10, ranks 0 to 15"
std::string extent(const SmartmoeLogs& logs) {
    std::string iterations = fmt::format("iteration {}", logs.first_iteration);
    if (logs.last_iteration != logs.first_iteration)
        iterations = fmt::format("iterations {} to {} in steps of {}", logs.first_iteration,
                                 logs.last_iteration, logs.iteration_step);
    return fmt::format("{}, ranks 0 to {}", iterations, logs.ranks - 1);
}

std::string some_of(const std::vector<std::string>& names) {
    constexpr std::size_t shown = 3;
    std::string text;
    for (std::size_t i = 0; i < std::min(shown, names.size()); ++i)
        text += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > shown) text += fmt::format(" and {} more", names.size() - shown);
    return text;
}

/// The folder of the logs where the one above it was given.
std::string nearby(const fs::path& folder) {
    std::error_code ignored;
    for (fs::directory_iterator at(folder, ignored), end; at != end; at.increment(ignored))
        if (at->is_directory(ignored))
            for (fs::directory_iterator inner(at->path(), ignored); inner != end;
                 inner.increment(ignored))
                if (log_name(inner->path().filename().string()))
                    return fmt::format("; {} does", at->path().string());
    return "";
}

}  // namespace

std::string smartmoe_file_name(std::int64_t iteration, std::size_t rank) {
    return fmt::format("table_iter{}_rank{}.log", iteration, rank);
}

std::size_t smartmoe_file_count(const SmartmoeLogs& logs) {
    return iteration_count(logs) * logs.ranks;
}

void require_smartmoe_files(const fs::path& folder, const SmartmoeLogs& logs) {
    Roster roster(logs);
    std::size_t found = 0;
    std::error_code problem;
    for (fs::directory_iterator at(folder, problem), end; !problem && at != end;
         at.increment(problem)) {
        const std::string name = at->path().filename().string();
        const auto log = log_name(name);
        if (!log) continue;
        ++found;
        if (!roster.note(*log))
            throw DataError(fmt::format("{}: no such log is known, only {}; move it away",
                                        at->path().string(), extent(logs)));
    }
    if (problem)
        throw DataError(fmt::format("{} cannot be read: {}", folder.string(), problem.message()));
    if (found == 0)
        throw DataError(fmt::format("{} holds no logs called table_iter{{I}}_rank{{R}}.log ({}){}",
                                    folder.string(), extent(logs), nearby(folder)));
    if (const auto missing = roster.missing(); !missing.empty())
        throw DataError(fmt::format("{} holds {} of {} logs: copy those that are missing too, {}",
                                    folder.string(), found, smartmoe_file_count(logs),
                                    some_of(missing)));
}

}  // namespace assay::data
