// One line of a log, read by hand: 192,384 of them are summed, and a mistake is to be named by its
// column.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "impls/lazarus/data/smartmoe_logs.hpp"

namespace assay::lazarus {

namespace {

/// A place in the line that moves on as it is read.
class Cursor {
  public:
    explicit Cursor(std::string_view line) : line_(line) {}

    [[noreturn]] void fail(std::size_t at, std::string_view what) const {
        throw data::DataError(fmt::format("column {}: {}", at + 1, what));
    }
    [[noreturn]] void fail(std::string_view what) const { fail(at_, what); }

    std::size_t place() {
        skip_blanks();
        return at_;
    }

    /// Takes the character if it comes next.
    bool take(char wanted) {
        skip_blanks();
        if (at_ == line_.size() || line_[at_] != wanted) return false;
        ++at_;
        return true;
    }

    void expect(char wanted, std::string_view after) {
        if (take(wanted)) return;
        if (at_ == line_.size())
            fail(fmt::format("the line ends where '{}' is expected after {}", wanted, after));
        fail(fmt::format("'{}' is expected after {}, not \"{}\"", wanted, after, word()));
    }

    void expect_end() {
        skip_blanks();
        if (at_ != line_.size()) fail(fmt::format("\"{}\" after the end of the list", word()));
    }

    /// A whole number, written "12" or, with `point`, "12.0" too.
    std::uint64_t whole(std::string_view what, bool point) {
        skip_blanks();
        const char* const begin = line_.data() + at_;
        const char* const end = line_.data() + line_.size();
        std::uint64_t value = 0;
        auto [stop, error] = std::from_chars(begin, end, value);
        bool right = error == std::errc{} && (*begin != '0' || stop == begin + 1);
        if (right && point && stop != end && *stop == '.') {
            const char* const fraction = ++stop;
            while (stop != end && *stop == '0') ++stop;
            right = stop != fraction;
        }
        if (right && (stop == end || !is_part_of_word(*stop))) {
            at_ = static_cast<std::size_t>(stop - line_.data());
            return value;
        }
        refuse(what, point ? "12.0" : "12");
    }

  private:
    void skip_blanks() {
        while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t')) ++at_;
    }

    static bool is_part_of_word(char c) {
        return c != ',' && c != ']' && c != '[' && c != ':' && c != ' ' && c != '\t';
    }

    /// What stands here, at most 40 characters of it; printable.
    std::string word() const {
        std::size_t end = at_;
        while (end < line_.size() && end - at_ < 40 && is_part_of_word(line_[end])) ++end;
        std::string text(line_.substr(at_, std::max<std::size_t>(end - at_, 1)));
        std::replace_if(
            text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c > 0x7e; }, '?');
        return text;
    }

    [[noreturn]] void refuse(std::string_view what, std::string_view form) const {
        if (at_ == line_.size()) fail(fmt::format("the line ends where {} is expected", what));
        const std::string text = word();
        double value = 0;
        const char* const end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), end, value);
        if (stop != end || error == std::errc::invalid_argument)
            fail(fmt::format("{} is expected, not \"{}\"", what, text));
        if (!std::isfinite(value) || error == std::errc::result_out_of_range)
            fail(fmt::format("{} is {}, which is not a finite number", what, text));
        if (std::signbit(value)) fail(fmt::format("{} is {}: it cannot be negative", what, text));
        if (value != std::floor(value))
            fail(fmt::format("{} is {}: it must be a whole number", what, text));
        if (value >= 0x1p64) fail(fmt::format("{} is {}: it is too large", what, text));
        fail(fmt::format("{} is written {}, not in the form {}", what, text, form));
    }

    std::string_view line_;
    std::size_t at_ = 0;
};

/// The counts of one micro-batch, from '[' to ']'.
void read_list(Cursor& in, std::size_t micro_batch, const SmartmoeLogs& logs,
               std::uint64_t* counts) {
    const std::size_t start = in.place();
    in.expect('[', micro_batch == 0 ? "'['" : "','");
    std::uint64_t sum = 0;
    for (std::size_t expert = 0;; ++expert) {
        if (expert == logs.experts)
            in.fail(start, fmt::format("micro-batch {} has more than the {} experts known",
                                       micro_batch, logs.experts));
        const std::size_t place = in.place();
        counts[expert] = in.whole("a number of tokens", true);
        if (counts[expert] > logs.tokens)
            in.fail(place, fmt::format("{} tokens where a micro-batch has {}", counts[expert],
                                       logs.tokens));
        sum += counts[expert];
        if (in.take(',')) continue;
        in.expect(']', "a number of tokens");
        if (expert + 1 < logs.experts)
            in.fail(start, fmt::format("micro-batch {} has {} experts where {} are known",
                                       micro_batch, expert + 1, logs.experts));
        break;
    }
    if (sum != logs.tokens)
        in.fail(start, fmt::format("micro-batch {} has {} tokens where {} are known", micro_batch,
                                   sum, logs.tokens));
}

}  // namespace

void parse_smartmoe_line(std::string_view line, const SmartmoeLogs& logs, SmartmoeLine& into) {
    Cursor in(line);
    const std::size_t layer = in.whole("a layer", false);
    if (layer >= logs.layers)
        in.fail(0, fmt::format("layer {} where 0 to {} are known", layer, logs.layers - 1));
    in.expect(':', "the layer");
    const std::size_t start = in.place();
    in.expect('[', "':'");
    into.layer = layer;
    into.counts.resize(logs.micro_batches * logs.experts);
    for (std::size_t micro_batch = 0;; ++micro_batch) {
        if (micro_batch == logs.micro_batches)
            in.fail(start, fmt::format("layer {} has more than the {} micro-batches known", layer,
                                       logs.micro_batches));
        read_list(in, micro_batch, logs, into.counts.data() + micro_batch * logs.experts);
        if (in.take(',')) continue;
        in.expect(']', "a micro-batch");
        if (micro_batch + 1 < logs.micro_batches)
            in.fail(start, fmt::format("layer {} has {} micro-batches where {} are known", layer,
                                       micro_batch + 1, logs.micro_batches));
        break;
    }
    in.expect_end();
}

}  // namespace assay::lazarus
