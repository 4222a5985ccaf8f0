// Bamboo's spot traces: one line `milliseconds,add|remove,node` per event, no header.
#include <algorithm>
#include <charconv>
#include <filesystem>

#include "suite/scenario/trace_limits.hpp"
#include "suite/scenario/trace_roster.hpp"

namespace assay {
namespace {

constexpr std::string_view form = "milliseconds,add|remove,node";

class BambooReader {
  public:
    BambooReader(std::string_view text, std::string_view file) : text_(text), file_(file) {
        trace_.id = std::filesystem::path(file_).stem().string();
        trace_.says = "spot trace in Bamboo's form, from " + file_;
    }

    AvailabilityTrace read() {
        while (at_ < text_.size()) {
            const std::size_t end = std::min(text_.find('\n', at_), text_.size());
            std::string_view line = text_.substr(at_, end - at_);
            at_ = end + 1;
            ++number_;
            if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
            if (line.find_first_not_of(" \t") != std::string_view::npos) read_event(line);
        }
        if (trace_.events.empty()) {
            number_ = 1;
            fail("no events; expected lines of the form " + std::string(form));
        }
        trace_.duration_s = trace_.events.back().t_s;
        return std::move(trace_);
    }

  private:
    [[noreturn]] void fail(const std::string& what) const {
        throw TraceError(file_ + ':' + std::to_string(number_) + ": " + what);
    }

    void read_event(std::string_view line) {
        const std::size_t first = line.find(',');
        const std::size_t second =
            first == std::string_view::npos ? first : line.find(',', first + 1);
        if (second == std::string_view::npos ||
            line.find(',', second + 1) != std::string_view::npos)
            fail("expected 3 fields, " + std::string(form));
        const double t_s = seconds(line.substr(0, first));
        const std::string_view action = line.substr(first + 1, second - first - 1);
        const std::string node(line.substr(second + 1));
        if (node.empty()) fail("the node has no name");
        if (std::any_of(node.begin(), node.end(), [](char c) { return c < ' ' || c > '~'; }))
            fail("the node's name has letters that are not printable ASCII");
        if (action != "add" && action != "remove")
            fail("unknown action '" + std::string(action.substr(0, 40)) +
                 "'; known are add, remove");
        const std::string wrong =
            action == "add" ? roster_.arrive(t_s, node) : roster_.leave(t_s, node);
        if (!wrong.empty()) fail(wrong);
    }

    double seconds(std::string_view field) {
        long long milliseconds = 0;
        const char* end = field.data() + field.size();
        const auto [stop, error] = std::from_chars(field.data(), end, milliseconds);
        if (error != std::errc() || stop != end || milliseconds < 0 ||
            static_cast<double>(milliseconds) > longest_trace_s * 1000)
            fail("the time '" + std::string(field.substr(0, 40)) +
                 "' is not a whole number of milliseconds from 0 to 1e12");
        const double t_s = static_cast<double>(milliseconds) / 1000;
        if (!trace_.events.empty() && t_s < trace_.events.back().t_s)
            fail("the time " + std::string(field) + " ms is before that of the event above");
        return t_s;
    }

    std::string_view text_;
    std::string file_;
    std::size_t at_ = 0, number_ = 0;
    AvailabilityTrace trace_;
    TraceRoster roster_{trace_};
};

}  // namespace

AvailabilityTrace read_bamboo_csv(std::string_view csv, std::string_view file_name) {
    return BambooReader(csv, file_name).read();
}

}  // namespace assay
