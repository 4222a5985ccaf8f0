// Traces by intervals, SkyPilot's: {"metadata": {"gap_seconds": S, …}, "data": [n0, n1, …]}. Read
// token by token, so that a wrong number is reported with its line.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "suite/base/input_file.hpp"
#include "suite/base/json_text.hpp"
#include "suite/scenario/traces/availability_trace.hpp"
#include "suite/scenario/traces/trace_roster.hpp"

namespace assay {
namespace {

class SkypilotReader : public nlohmann::json_sax<nlohmann::json> {
  public:
    SkypilotReader(std::string_view text, std::string_view file)
        : text_(without_byte_order_mark(text)), file_(file) {}

    AvailabilityTrace read() {
        nlohmann::json::sax_parse(CountingIterator(text_.data(), &taken_),
                                  CountingIterator(text_.data() + text_.size(), &taken_), this);
        if (!gap_s_) fail("metadata lacks 'gap_seconds', the length of an interval");
        if (counts_.empty()) fail("'data' is missing or empty; expected one number per interval");
        return trace();
    }

    bool null() override { return value("null"); }
    bool boolean(bool yes) override { return in_data() ? count(yes ? 1 : 0) : value("a boolean"); }
    bool number_integer(number_integer_t number) override {
        return in_data() ? count(static_cast<double>(number))
                         : numeric(static_cast<double>(number));
    }
    bool number_unsigned(number_unsigned_t number) override {
        return in_data() ? count(static_cast<double>(number))
                         : numeric(static_cast<double>(number));
    }
    bool number_float(number_float_t number, const string_t&) override {
        return in_data() ? count(number) : numeric(number);
    }
    bool string(string_t&) override { return value("a text"); }
    bool binary(binary_t&) override { return value("binary"); }
    bool key(string_t& name) override {
        if (depth_ == 1) top_ = name;
        if (depth_ == 2) inner_ = name;
        if (!keys_.back().insert(name).second) fail("'" + name + "' is there twice");
        return true;
    }
    bool start_object(std::size_t) override {
        if (depth_ > 0 && (depth_ > 1 || top_ != "metadata")) value("an object");
        return deeper();
    }
    bool start_array(std::size_t) override {
        if (depth_ == 0) value("an array");
        if (depth_ == 1 && top_ == "data") {
        } else {
            value("an array");
        }
        return deeper();
    }
    bool end_object() override { return shallower(); }
    bool end_array() override { return shallower(); }
    bool parse_error(std::size_t, const std::string&,
                     const nlohmann::detail::exception& error) override {
        fail_after(text_.substr(0, taken_), "not valid JSON: " + json_reason(error));
    }

  private:
    [[noreturn]] void fail_after(std::string_view read, const std::string& what) const {
        throw TraceError(file_ + ':' +
                         std::to_string(1 + std::count(read.begin(), read.end(), '\n')) + ": " +
                         what);
    }

    // The parser has read one letter beyond a number; a line feed there is not yet the next line.
    [[noreturn]] void fail(const std::string& what) const {
        fail_after(text_.substr(0, taken_ > 0 ? taken_ - 1 : 0), what);
    }

    bool in_data() const { return depth_ == 2 && top_ == "data"; }
    bool in_metadata() const { return depth_ == 2 && top_ == "metadata"; }

    bool count(double number) {
        if (!(number >= 0 && number <= most_trace_nodes) ||
            number != static_cast<double>(static_cast<int>(number)))
            fail("data[" + std::to_string(counts_.size()) +
                 "] is not a whole number of nodes from 0 to " + std::to_string(most_trace_nodes));
        if (counts_.size() >= most_trace_events)
            fail("more than " + std::to_string(most_trace_events) + " intervals");
        counts_.push_back(static_cast<int>(number));
        return true;
    }

    bool numeric(double number) {
        if (!in_metadata() || inner_ != "gap_seconds") return value("a number");
        if (!(number > 0 && number <= longest_trace_s))
            fail("'gap_seconds' must be above 0 and at most 1e9");
        gap_s_ = number;
        return true;
    }

    // Anything that is neither a count nor the gap: fine where nobody looks.
    bool value(const std::string& what) {
        if (depth_ == 0) fail(what + " where {\"metadata\": {…}, \"data\": […]} is expected");
        if (in_data())
            fail("data[" + std::to_string(counts_.size()) + "] is " + what +
                 ", not a number of nodes");
        if (depth_ == 1 && top_ == "data") fail("'data' is " + what + ", not an array");
        if (depth_ == 1 && top_ == "metadata") fail("'metadata' is " + what + ", not an object");
        if (in_metadata() && inner_ == "gap_seconds")
            fail("'gap_seconds' is " + what + ", not a number");
        return true;
    }

    bool deeper() {
        keys_.emplace_back();
        return ++depth_ > 0;
    }
    bool shallower() {
        keys_.pop_back();
        return depth_-- > 0;
    }

    AvailabilityTrace trace() const {
        AvailabilityTrace trace;
        trace.id = std::filesystem::path(file_).stem().string();
        trace.says = "spot trace in SkyPilot's form, from " + file_;
        trace.duration_s = *gap_s_ * static_cast<double>(counts_.size());
        if (trace.duration_s > longest_trace_s) fail("the trace is longer than 1e9 seconds");
        TraceRoster roster(trace);
        for (std::size_t i = 0; i < counts_.size(); ++i) {
            const double t_s = *gap_s_ * static_cast<double>(i);
            std::string wrong;
            while (wrong.empty() && roster.alive() != counts_[i])
                wrong =
                    roster.alive() < counts_[i] ? roster.arrive(t_s) : roster.youngest_leaves(t_s);
            if (!wrong.empty()) fail(wrong);
        }
        return trace;
    }

    std::string_view text_;
    std::string file_;
    std::size_t taken_ = 0;
    int depth_ = 0;
    std::string top_, inner_;
    std::vector<std::set<std::string>> keys_;  // of the objects (and arrays) around
    std::optional<double> gap_s_;
    std::vector<int> counts_;
};

}  // namespace

AvailabilityTrace read_skypilot_json(std::string_view json, std::string_view file_name) {
    return SkypilotReader(json, file_name).read();
}

}  // namespace assay
