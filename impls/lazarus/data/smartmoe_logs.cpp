#include "impls/lazarus/data/smartmoe_logs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "impls/lazarus/data/routing_trace.hpp"
#include "suite/base/input_file.hpp"

namespace assay::lazarus {
namespace {

namespace fs = std::filesystem;

// ---- which files --------------------------------------------------------------------------------

struct LogName {
    std::int64_t iteration = 0;
    std::size_t rank = 0;
};

/// "table_iter11_rank3.log"
std::string file_name(std::int64_t iteration, std::size_t rank) {
    return fmt::format("table_iter{}_rank{}.log", iteration, rank);
}

/// Reverse of file_name(); nothing for any other name.
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
        skip(".log") && name == file_name(log.iteration, log.rank))
        return log;
    return std::nullopt;
}

std::size_t iteration_count(const SmartmoeLogs& logs) {
    return static_cast<std::size_t>(
        (logs.last_iteration - logs.first_iteration) / logs.iteration_step + 1);
}

/// One per iteration and rank.
std::size_t file_count(const SmartmoeLogs& logs) { return iteration_count(logs) * logs.ranks; }

/// Which logs should be there and are, [iteration][rank].
class Roster {
  public:
    explicit Roster(const SmartmoeLogs& logs) : logs_(logs), there_(file_count(logs)) {}

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
                if (!there_[row * logs_.ranks + rank]) files.push_back(file_name(iteration, rank));
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

/// Throws DataError unless every log is there and no log of another iteration or rank; says which.
void require_files(const fs::path& folder, const SmartmoeLogs& logs) {
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
            throw data::DataError(fmt::format("{}: no such log is known, only {}; move it away",
                                              at->path().string(), extent(logs)));
    }
    if (problem)
        throw data::DataError(
            fmt::format("{} cannot be read: {}", folder.string(), problem.message()));
    if (found == 0)
        throw data::DataError(
            fmt::format("{} holds no logs called table_iter{{I}}_rank{{R}}.log ({}){}",
                        folder.string(), extent(logs), nearby(folder)));
    if (const auto missing = roster.missing(); !missing.empty())
        throw data::DataError(
            fmt::format("{} holds {} of {} logs: copy those that are missing too, {}",
                        folder.string(), found, file_count(logs), some_of(missing)));
}

// ---- the sum ------------------------------------------------------------------------------------

/// The loads of one iteration while its ranks are added up.
class IterationSum {
  public:
    explicit IterationSum(const SmartmoeLogs& logs)
        : logs_(logs), sums_(logs.layers * logs.experts), line_of_layer_(logs.layers) {}

    void clear() { std::fill(sums_.begin(), sums_.end(), 0); }

    void add(const std::filesystem::path& file) {
        std::ifstream in(file, std::ios::binary);
        if (in) pass_over_byte_order_mark(in);
        std::fill(line_of_layer_.begin(), line_of_layer_.end(), 0);
        std::size_t number = 0;
        while (std::getline(in, line_)) {
            ++number;
            if (!line_.empty() && line_.back() == '\r') line_.pop_back();
            try {
                add_line(number);
            } catch (const data::DataError& error) {
                refuse(file, number, error.what());
            }
        }
        if (in.bad() || !in.is_open())
            throw data::DataError(fmt::format("{} cannot be read", file.string()));
        const auto missing = std::find(line_of_layer_.begin(), line_of_layer_.end(), 0U);
        if (missing != line_of_layer_.end())
            refuse(file, number + 1,
                   fmt::format("the file ends without layer {}", missing - line_of_layer_.begin()));
    }

    /// Appends the rows of the CSV.
    void print(std::int64_t iteration, std::string& rows) const {
        for (std::size_t layer = 0; layer < logs_.layers; ++layer) {
            fmt::format_to(std::back_inserter(rows), "{},{}", iteration, layer);
            for (std::size_t expert = 0; expert < logs_.experts; ++expert)
                fmt::format_to(std::back_inserter(rows), ",{}",
                               sums_[layer * logs_.experts + expert]);
            rows += '\n';
        }
    }

  private:
    [[noreturn]] static void refuse(const std::filesystem::path& file, std::size_t line,
                                    std::string_view what) {
        throw data::DataError(
            fmt::format("{}:{}: {}; copy this log anew", file.string(), line, what));
    }

    void add_line(std::size_t number) {
        parse_smartmoe_line(line_, logs_, parsed_);
        std::size_t& line_of_layer = line_of_layer_[parsed_.layer];
        if (line_of_layer != 0)
            throw data::DataError(
                fmt::format("layer {} is already on line {}", parsed_.layer, line_of_layer));
        line_of_layer = number;
        std::uint64_t* const sums = &sums_[parsed_.layer * logs_.experts];
        const std::uint64_t* counts = parsed_.counts.data();
        for (std::size_t micro_batch = 0; micro_batch < logs_.micro_batches; ++micro_batch)
            for (std::size_t expert = 0; expert < logs_.experts; ++expert)
                sums[expert] += *counts++;
    }

    const SmartmoeLogs& logs_;
    std::vector<std::uint64_t> sums_;         ///< [layers][experts]
    std::vector<std::size_t> line_of_layer_;  ///< of the file being read, from 1; 0: none yet
    std::string line_;
    SmartmoeLine parsed_;
};

// ---- what the catalogue says --------------------------------------------------------------------

/// The numbers of an entry's folder, one by one.
class Numbers {
  public:
    explicit Numbers(const data::Entry& entry) : entry_(entry), left_(entry.folder->numbers) {}

    [[noreturn]] void fail(const std::string& what) const {
        throw data::DataError(fmt::format("the catalogue's entry {}: {}", entry_.id, what));
    }

    std::int64_t take(const char* name, std::int64_t least, std::int64_t most) {
        const auto found = left_.find(name);
        if (found == left_.end()) fail(fmt::format("folder lacks '{}'", name));
        const std::int64_t value = found->second;
        if (value < least || value > most)
            fail(fmt::format("folder: '{}' must be a whole number from {} to {}", name, least,
                             most));
        left_.erase(found);
        return value;
    }

    std::size_t size(const char* name, std::int64_t most) {
        return static_cast<std::size_t>(take(name, 1, most));
    }

    void refuse_rest() const {
        if (!left_.empty())
            fail(fmt::format("folder: '{}' is not a known key", left_.begin()->first));
    }

  private:
    const data::Entry& entry_;
    std::map<std::string, std::int64_t> left_;
};

}  // namespace

void check_expert_loads(std::istream& in) {
    const std::string csv(std::istreambuf_iterator<char>(in), {});
    try {
        RoutingTrace::parse(csv, "line");
    } catch (const UserError& error) {  // "line:N: …", or of the whole file "line: …"
        const std::string text = std::string(error.what()).substr(sizeof("line:") - 1);
        throw data::DataError(text.starts_with(' ') ? text.substr(1) : "line " + text);
    }
}

SmartmoeLogs smartmoe_logs_of(const data::Entry& entry) {
    Numbers in(entry);
    if (entry.format != expert_loads)
        in.fail("a folder of SmartMoE's logs belongs to data of format expert_loads");
    constexpr std::int64_t most_iterations = 10'000'000;
    SmartmoeLogs logs{.first_iteration = in.take("first_iteration", 0, most_iterations),
                      .last_iteration = in.take("last_iteration", 0, most_iterations),
                      .iteration_step = in.take("iteration_step", 1, most_iterations),
                      .ranks = in.size("ranks", 4096),
                      .layers = in.size("layers", 4096),
                      .micro_batches = in.size("micro_batches", 4096),
                      .experts = in.size("experts", 4096),
                      .tokens = in.size("tokens", std::int64_t{1} << 32)};
    if (logs.last_iteration < logs.first_iteration)
        in.fail("folder: 'last_iteration' must not be before 'first_iteration'");
    if ((logs.last_iteration - logs.first_iteration) % logs.iteration_step != 0)
        in.fail(
            "folder: 'last_iteration' must be a whole number of 'iteration_step' after the first");
    in.refuse_rest();
    return logs;
}

void sum_smartmoe_logs(const std::filesystem::path& folder, const SmartmoeLogs& logs,
                       std::ostream& out, const FileProgress& progress) {
    require_files(folder, logs);
    std::string rows = "iteration,layer";
    for (std::size_t expert = 0; expert < logs.experts; ++expert)
        rows += ",e" + std::to_string(expert);
    rows += '\n';

    IterationSum sum(logs);
    std::size_t done = 0;
    for (std::int64_t iteration = logs.first_iteration; iteration <= logs.last_iteration;
         iteration += logs.iteration_step) {
        sum.clear();
        for (std::size_t rank = 0; rank < logs.ranks; ++rank) {
            sum.add(folder / file_name(iteration, rank));
            if (progress) progress(++done, file_count(logs));
        }
        sum.print(iteration, rows);
        out.write(rows.data(), static_cast<std::streamsize>(rows.size()));
        rows.clear();
    }
}

void convert_smartmoe_logs(const data::Entry& entry, const std::filesystem::path& folder,
                           std::ostream& out, const FileProgress& progress) {
    const SmartmoeLogs logs = smartmoe_logs_of(entry);
    try {
        sum_smartmoe_logs(folder, logs, out, progress);
    } catch (const data::DataError& error) {
        throw data::DataError(
            fmt::format("{} (the logs are those of {})", error.what(), entry.origin));
    }
}

}  // namespace assay::lazarus
