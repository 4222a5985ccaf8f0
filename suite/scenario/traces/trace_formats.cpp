// Traces by events: Bamboo's CSV (one line `milliseconds,add|remove,node` per event, no header),
// and our own TOML (how many nodes come or go when, names only where they matter).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "suite/base/input_file.hpp"
#include "suite/base/strict_toml.hpp"
#include "suite/scenario/traces/availability_trace.hpp"
#include "suite/scenario/traces/trace_roster.hpp"

namespace assay {
namespace {

constexpr std::string_view form = "milliseconds,add|remove,node";

class BambooReader {
  public:
    BambooReader(std::string_view text, std::string_view file)
        : text_(without_byte_order_mark(text)), file_(file) {
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
        const double t_s = seconds_since_start(line.substr(0, first));
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

    /// A first time of the years 2001 to 2128, as seconds or milliseconds since 1970, is none since
    /// the trace's start, eleven days or thirty years behind it.
    void tell_clock(double first) {
        constexpr double year_2001 = 1e9, year_2128 = 5e9;  // in seconds
        const bool in_seconds = first >= year_2001 && first < year_2128;
        if (!in_seconds && !(first >= 1000 * year_2001 && first < 1000 * year_2128)) return;
        units_per_s_ = in_seconds ? 1 : 1000;
        zero_ = first;
        trace_.says += fmt::format("; its times are Unix {}, counted from the first",
                                   in_seconds ? "seconds" : "milliseconds");
    }

    double seconds_since_start(std::string_view field) {
        long long time = 0;
        const char* end = field.data() + field.size();
        const auto [stop, error] = std::from_chars(field.data(), end, time);
        const bool is_number = error == std::errc() && stop == end;
        if (is_number && trace_.events.empty()) tell_clock(static_cast<double>(time));
        const double t_s = (static_cast<double>(time) - zero_) / units_per_s_;
        if (!is_number || time < 0 || t_s > longest_trace_s)
            fail("the time '" + std::string(field.substr(0, 40)) +
                 "' is not a whole number of milliseconds from 0 to 1e12");
        if (!trace_.events.empty() && t_s < trace_.events.back().t_s)
            fail("the time " + std::string(field) + (units_per_s_ == 1 ? " s" : " ms") +
                 " is before that of the event above");
        return t_s;
    }

    std::string_view text_;
    std::string file_;
    std::size_t at_ = 0, number_ = 0;
    double zero_ = 0, units_per_s_ = 1000;  // of the file's times
    AvailabilityTrace trace_;
    TraceRoster roster_{trace_};
};

}  // namespace

AvailabilityTrace read_bamboo_csv(std::string_view csv, std::string_view file_name) {
    return BambooReader(csv, file_name).read();
}

namespace {

using Table = StrictTable<TraceError>;

double seconds(Table& table, std::string_view key, double least, double most) {
    const auto value = table.number(key);
    if (!value) table.fail(table.name() + " lacks '" + std::string(key) + "'");
    if (!(*value >= least && *value <= most))
        table.fail(key, fmt::format("must be a number of seconds from {} to {}", least, most));
    return *value + 0.0;  // not -0
}

void read_change(Table table, double not_before_s, double duration_s, TraceRoster& roster) {
    const double t_s = seconds(table, "at_s", 0, duration_s);
    if (t_s < not_before_s) table.fail("at_s", "is before that of the change above");
    const auto add = table.integer("add", 1, most_trace_nodes);
    const auto remove = table.integer("remove", 1, most_trace_nodes);
    const std::vector<std::string> names = table.texts("nodes");
    table.refuse_rest();
    if (add.has_value() == remove.has_value())
        table.fail(table.name() + " needs one of 'add' and 'remove'");
    const auto number = static_cast<std::size_t>(add ? *add : *remove);
    if (names.size() > number)
        table.fail("nodes", fmt::format("names {} nodes of {}", names.size(), number));
    for (std::size_t i = 0; i < number; ++i) {
        const bool named = i < names.size();
        if (named && names[i].empty()) table.fail("nodes", "must not hold an empty name");
        const std::string wrong =
            add ? (named ? roster.arrive(t_s, names[i]) : roster.arrive(t_s))
                : (named ? roster.leave(t_s, names[i]) : roster.youngest_leaves(t_s));
        if (!wrong.empty())
            table.fail(named ? "nodes" : add ? "add" : "remove", "cannot be: " + wrong);
    }
}

// A TOML basic string.
std::string toml_string(std::string_view text) {
    std::string out = "\"";
    for (const char letter : text) {
        const auto byte = static_cast<unsigned char>(letter);
        if (byte < 0x20 || byte == 0x7f) {
            out += fmt::format("\\u{:04X}", byte);
        } else {
            if (letter == '"' || letter == '\\') out += '\\';
            out += letter;
        }
    }
    return out + '"';
}

}  // namespace

AvailabilityTrace read_trace_toml(std::string_view toml_text, std::string_view file_name) {
    const toml::table document = parse_toml<TraceError>(toml_text, file_name);
    Table file(document, std::string(file_name), "trace");
    AvailabilityTrace trace;
    trace.id = std::filesystem::path(file_name).stem().string();
    trace.says = file.required_text("says");
    trace.duration_s = seconds(file, "duration_s", 0, longest_trace_s);
    const std::vector<Table> changes = file.tables("change");
    file.refuse_rest();
    if (changes.empty())
        throw TraceError(fmt::format(
            "{}: no node in it; give a [[change]] with at_s = 0 and add = N", file_name));
    TraceRoster roster(trace);
    for (const Table& change : changes)
        read_change(change, trace.events.empty() ? 0 : trace.events.back().t_s, trace.duration_s,
                    roster);
    return trace;
}

std::string to_toml(const AvailabilityTrace& trace) {
    std::string out =
        fmt::format("says = {}\nduration_s = {}\n", toml_string(trace.says), trace.duration_s);
    for (std::size_t first = 0; first < trace.events.size();) {
        const TraceEvent& head = trace.events[first];
        std::string names;
        std::size_t next = first;
        for (; next < trace.events.size() && trace.events[next].t_s == head.t_s &&
               trace.events[next].add == head.add;
             ++next)
            names += (next > first ? ", " : "") + toml_string(trace.events[next].node);
        out += fmt::format("\n[[change]]\nat_s = {}\n{} = {}\nnodes = [{}]\n", head.t_s,
                           head.add ? "add" : "remove", next - first, names);
        first = next;
    }
    return out;
}

}  // namespace assay
