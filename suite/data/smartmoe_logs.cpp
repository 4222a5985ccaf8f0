#include "suite/data/smartmoe_logs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "suite/data/smartmoe_files.hpp"
#include "suite/data/smartmoe_line.hpp"

namespace assay::data {

namespace {

/// The loads of one iteration while its ranks are added up.
class IterationSum {
  public:
    explicit IterationSum(const SmartmoeLogs& logs)
        : logs_(logs), sums_(logs.layers * logs.experts), line_of_layer_(logs.layers) {}

    void clear() { std::fill(sums_.begin(), sums_.end(), 0); }

    void add(const std::filesystem::path& file) {
        std::ifstream in(file, std::ios::binary);
        std::fill(line_of_layer_.begin(), line_of_layer_.end(), 0);
        std::size_t number = 0;
        while (std::getline(in, line_)) {
            ++number;
            if (!line_.empty() && line_.back() == '\r') line_.pop_back();
            try {
                add_line(number);
            } catch (const DataError& error) {
                refuse(file, number, error.what());
            }
        }
        if (in.bad() || !in.is_open())
            throw DataError(fmt::format("{} cannot be read", file.string()));
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
        throw DataError(fmt::format("{}:{}: {}; copy this log anew", file.string(), line, what));
    }

    void add_line(std::size_t number) {
        parse_smartmoe_line(line_, logs_, parsed_);
        std::size_t& line_of_layer = line_of_layer_[parsed_.layer];
        if (line_of_layer != 0)
            throw DataError(
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

}  // namespace

void sum_smartmoe_logs(const std::filesystem::path& folder, const SmartmoeLogs& logs,
                       std::ostream& out, const FileProgress& progress) {
    require_smartmoe_files(folder, logs);
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
            sum.add(folder / smartmoe_file_name(iteration, rank));
            if (progress) progress(++done, smartmoe_file_count(logs));
        }
        sum.print(iteration, rows);
        out.write(rows.data(), static_cast<std::streamsize>(rows.size()));
        rows.clear();
    }
}

}  // namespace assay::data
