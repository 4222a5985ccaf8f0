// The flag grammar of faults, read and written.
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "suite/scenario/fault_limits.hpp"

namespace assay {
namespace {

// What the user typed, fit for one line of a terminal.
std::string quoted(std::string_view text) {
    std::string out = "'";
    for (const char letter : text.substr(0, 100)) {
        const auto byte = static_cast<unsigned char>(letter);
        out += byte < 0x20 || byte == 0x7f ? '?' : letter;
    }
    return out + (text.size() > 100 ? "…'" : "'");
}

class FaultReader {
  public:
    explicit FaultReader(std::string_view text) : text_(text) {}

    Fault read() {
        const std::string_view kind = until(":@");
        if (const auto known = parse_fault_kind(kind))
            fault_.kind = *known;
        else
            fail(0, "unknown kind " + quoted(kind) + "; known are kill, hang, stop, join");
        if (next_is(':')) read_keys(false);
        if (!next_is('@')) fail(at_, "'@step=N' or '@t=SECONDS' is missing");
        read_keys(true);
        if (const std::string wrong = combination_error(fault_, count_given_); !wrong.empty())
            fail(0, wrong);
        return fault_;
    }

  private:
    [[noreturn]] void fail(std::size_t position, const std::string& message) const {
        throw ScenarioError("fault " + quoted(text_) + ", position " +
                            std::to_string(position + 1) + ": " + message +
                            "; the form is KIND:key=value,…@step=N|t=SECONDS[,for=SECONDS]");
    }

    std::string_view until(std::string_view stops) {
        const std::size_t end = std::min(text_.find_first_of(stops, at_), text_.size());
        const std::string_view part = text_.substr(at_, end - at_);
        at_ = end;
        return part;
    }

    bool next_is(char letter) {
        if (at_ >= text_.size() || text_[at_] != letter) return false;
        ++at_;
        return true;
    }

    void read_keys(bool when) {
        do {
            const std::size_t key_at = at_;
            const std::string_view key = until("=,@:");
            if (!next_is('=')) fail(at_, "'=' and a value are missing after " + quoted(key));
            const std::size_t value_at = at_;
            read_value(key, key_at, until(",@"), value_at, when);
        } while (next_is(','));
        if (at_ < text_.size() && (when || text_[at_] != '@'))
            fail(at_, "unexpected " + quoted(text_.substr(at_, 1)));
    }

    void read_value(std::string_view key, std::size_t key_at, std::string_view value,
                    std::size_t value_at, bool when) {
        const auto is = [&](std::string_view name, bool belongs_after_at) {
            if (key != name) return false;
            if (when != belongs_after_at)
                fail(key_at, quoted(key) + (belongs_after_at ? " belongs after the '@'"
                                                             : " belongs before the '@'"));
            if (seen_.find(',' + std::string(key) + ',') != std::string::npos)
                fail(key_at, quoted(key) + " is given twice");
            seen_ += ',' + std::string(key) + ',';
            return true;
        };
        if (is("rank", false)) {
            fault_.rank = static_cast<int>(whole(value, value_at, 0, largest_rank));
        } else if (is("count", false)) {
            fault_.count = static_cast<int>(whole(value, value_at, 1, largest_count));
            count_given_ = true;
        } else if (is("phase", false)) {
            if (!is_fault_phase(value))
                fail(value_at,
                     "unknown phase " + quoted(value) + "; known are step, regroup, transfer");
            fault_.phase = value;
        } else if (is("step", true)) {
            fault_.step = static_cast<long>(whole(value, value_at, 0, largest_step));
        } else if (is("t", true)) {
            fault_.t_s = seconds(value, value_at);
        } else if (is("for", true)) {
            fault_.for_s = seconds(value, value_at);
            if (*fault_.for_s <= 0) fail(value_at, "a hang must last longer than 0 seconds");
        } else {
            fail(key_at,
                 "unknown key " + quoted(key) + "; known are rank, count, phase, step, t, for");
        }
    }

    long long whole(std::string_view value, std::size_t position, long long least,
                    long long most) const {
        long long number = 0;
        const char* end = value.data() + value.size();
        const auto [stop, error] = std::from_chars(value.data(), end, number);
        if (error != std::errc() || stop != end || number < least || number > most)
            fail(position, quoted(value) + " is not a whole number from " + std::to_string(least) +
                               " to " + std::to_string(most));
        return number;
    }

    double seconds(std::string_view value, std::size_t position) const {
        double number = 0;
        const char* end = value.data() + value.size();
        const auto [stop, error] = std::from_chars(value.data(), end, number);
        // !(…) also refuses NaN; -0 would not come back from the canonical text as it went in.
        if (error != std::errc() || stop != end || !(number >= 0 && number <= longest_s) ||
            std::signbit(number))
            fail(position, quoted(value) + " is not a number of seconds from 0 to 1e9");
        return number;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    Fault fault_;
    bool count_given_ = false;
    std::string seen_;
};

std::string_view without_spaces_around(std::string_view text) {
    constexpr std::string_view spaces = " \t\r";
    const std::size_t first = text.find_first_not_of(spaces);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(spaces) - first + 1);
}

}  // namespace

std::string_view to_string(FaultKind kind) {
    switch (kind) {
        case FaultKind::kill:
            return "kill";
        case FaultKind::hang:
            return "hang";
        case FaultKind::stop:
            return "stop";
        case FaultKind::join:
            break;
    }
    return "join";
}

std::string to_string(const Fault& fault) {
    std::string keys;
    const auto add = [&](std::string_view key, const std::string& value) {
        keys += (keys.empty() ? ":" : ",") + std::string(key) + '=' + value;
    };
    if (fault.rank) add("rank", std::to_string(*fault.rank));
    if (fault.kind == FaultKind::join) add("count", std::to_string(fault.count));
    if (!fault.phase.empty()) add("phase", fault.phase);
    std::string when;
    if (fault.step) when = "@step=" + std::to_string(*fault.step);
    if (fault.t_s) when += fmt::format("{}t={}", when.empty() ? "@" : ",", *fault.t_s);
    if (fault.for_s) when += fmt::format(",for={}", *fault.for_s);
    return std::string(to_string(fault.kind)) + keys + when;
}

std::string to_string(const FaultPlan& plan) {
    std::string text;
    for (const Fault& fault : plan.faults) text += (text.empty() ? "" : ";") + to_string(fault);
    return text;
}

Fault parse_fault(std::string_view text) { return FaultReader(without_spaces_around(text)).read(); }

FaultPlan parse_fault_plan(std::string_view text) {
    FaultPlan plan;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find_first_of(";\n", at), text.size());
        const std::string_view fault = without_spaces_around(text.substr(at, end - at));
        if (!fault.empty()) plan.faults.push_back(parse_fault(fault));
        at = end + 1;
    }
    return plan;
}

}  // namespace assay
