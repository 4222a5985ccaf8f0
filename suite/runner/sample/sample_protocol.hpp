// What a sample's process says to the runner: one JSON object per line on file descriptor 3. The
// last line is "end"; a sample without it has failed, whatever it said before.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

#include "suite/experiment/recorder.hpp"
#include "suite/store/records.hpp"

namespace assay::runner {

struct Progress {
    double fraction = 0;  ///< 0 … 1
    std::string what;
};

struct End {
    SampleStatus status = SampleStatus::failed;  ///< never running
    std::string reason;                          ///< empty when ok
};

using Message = std::variant<store::MetricValue, store::Event, store::TimeSeries, store::Table,
                             store::Artifact, Progress, End>;

/// The text says which member of which kind of line is wrong.
class ProtocolError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// One line, newline included. Values of time series that are not finite become null; strings that
/// are not UTF-8 are mended with U+FFFD (a reason may quote anything).
std::string encode(const Message& message);

/// Reads what encode() wrote. Throws ProtocolError, and nothing else, on anything other.
Message decode(std::string_view line);

/// Cuts a stream of bytes into lines.
class LineSplitter {
  public:
    /// A line longer than this is an error: a sample that has gone mad must not fill our memory.
    static constexpr std::size_t default_max_line_bytes = 256UL << 20U;

    explicit LineSplitter(std::size_t max_line_bytes = default_max_line_bytes)
        : max_line_bytes_(max_line_bytes) {}

    /// Adds bytes and calls `take(std::string_view line)`, without the newline, for each whole
    /// line. Empty lines are passed over. Throws ProtocolError on an overlong line.
    template <typename Take>
    void feed(std::string_view bytes, Take&& take) {
        while (!bytes.empty()) {
            const std::size_t end = bytes.find('\n');
            if (end == std::string_view::npos) {
                append(bytes);
                return;
            }
            append(bytes.substr(0, end));
            bytes.remove_prefix(end + 1);
            std::string line;
            line.swap(rest_);
            if (!line.empty()) take(std::string_view(line));
        }
    }
    /// What came after the last newline.
    const std::string& rest() const { return rest_; }

  private:
    void append(std::string_view bytes);
    std::size_t max_line_bytes_;
    std::string rest_;
};

}  // namespace assay::runner
