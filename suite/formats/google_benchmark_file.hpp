// A file of Google Benchmark, as --benchmark_out writes it (docs/user_guide.md of that project and
// its json_reporter.cc; versions from 1.4 on, which wrote no run_type before 1.5).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

class GoogleBenchmarkFile {
  public:
    /// A benchmark's repetition.
    struct Entry {
        std::string name;
        nlohmann::json fields;

        std::string word(const char* key) const;  ///< "" where there is none
        bool flag(const char* key) const;
    };

    /// UserError with `source`: line and column of malformed text, or what another JSON lacks.
    GoogleBenchmarkFile(std::string_view text, std::string source);

    const nlohmann::json& context() const { return context_; }  ///< an object, maybe an empty one
    std::string context_word(const char* key) const;
    const std::vector<Entry>& repetitions() const { return repetitions_; }
    bool has_aggregates() const { return has_aggregates_; }

    /// How many of the unit of its times are a second. UserError for an unknown unit.
    double per_second(const Entry& entry) const;
    /// UserError where there is none.
    double real_time_s(const Entry& entry) const;
    /// Why it gives no time: its own words, or that it took none. Empty: it does.
    std::string failure(const Entry& entry) const;

    [[noreturn]] void refuse(const std::string& what) const;

  private:
    std::string source_;
    nlohmann::json context_;
    std::vector<Entry> repetitions_;
    bool has_aggregates_ = false;
};

}  // namespace assay
