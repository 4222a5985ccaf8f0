// See xml_check.hpp.
#include "tests/report/xml_check.hpp"

#include <algorithm>
#include <set>
#include <vector>

namespace assay::report {
namespace {

class Reader {
  public:
    explicit Reader(std::string_view text) : text_(text) {}

    std::string problem() {
        if (starts("<!DOCTYPE")) at_ = text_.find('>') + 1;
        while (error_.empty() && at_ < text_.size()) {
            if (text_[at_] != '<')
                content();
            else if (starts("</"))
                close();
            else
                open();
        }
        if (error_.empty() && !stack_.empty()) fail("unclosed <" + stack_.back() + ">");
        if (error_.empty() && roots_ != 1) fail("not exactly one root element");
        return error_;
    }

  private:
    bool starts(std::string_view what) const {
        return text_.substr(at_).substr(0, what.size()) == what;
    }
    void fail(const std::string& what) {
        const auto line =
            std::count(text_.begin(),
                       text_.begin() + static_cast<long>(std::min(at_, text_.size())), '\n') +
            1;
        error_ = what + " in line " + std::to_string(line);
    }
    static bool name_char(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == ':';
    }
    static bool space(char c) { return c == ' ' || c == '\n' || c == '\t'; }
    std::string name() {
        const std::size_t start = at_;
        while (at_ < text_.size() && name_char(text_[at_])) ++at_;
        if (at_ == start) fail("name expected");
        return std::string(text_.substr(start, at_ - start));
    }
    void skip_space() {
        while (at_ < text_.size() && space(text_[at_])) ++at_;
    }
    void entities(std::string_view part) {
        static const std::set<std::string_view> known{"amp", "lt", "gt", "quot", "#39"};
        for (std::size_t i = part.find('&'); i != part.npos; i = part.find('&', i + 1)) {
            const std::size_t end = part.find(';', i);
            if (end == part.npos || !known.contains(part.substr(i + 1, end - i - 1)))
                return fail("bare &");
        }
    }
    void content() {
        const std::size_t end = std::min(text_.find('<', at_), text_.size());
        const std::string_view part = text_.substr(at_, end - at_);
        if (stack_.empty() && !std::all_of(part.begin(), part.end(), space)) fail("text outside");
        if (stack_.empty() || stack_.back() != "style") entities(part);
        at_ = end;
    }
    void close() {
        at_ += 2;
        const std::string closed = name();
        if (error_.empty() && (stack_.empty() || stack_.back() != closed))
            fail("</" + closed + "> closes nothing");
        if (at_ >= text_.size() || text_[at_] != '>') fail("> expected");
        if (!error_.empty()) return;
        stack_.pop_back();
        ++at_;
    }
    void open() {
        ++at_;
        if (stack_.empty()) ++roots_;
        const std::string element = name();
        std::set<std::string> attributes;
        while (error_.empty()) {
            skip_space();
            if (starts("/>")) {
                at_ += 2;
                return;
            }
            if (starts(">")) {
                ++at_;
                stack_.push_back(element);
                return;
            }
            attribute(attributes);
        }
    }
    void attribute(std::set<std::string>& seen) {
        const std::string key = name();
        if (!error_.empty()) return;
        if (!starts("=\"")) return fail("=\" expected after " + key);
        at_ += 2;
        const std::size_t end = text_.find('"', at_);
        if (end == text_.npos) return fail("unclosed attribute " + key);
        const std::string_view value = text_.substr(at_, end - at_);
        if (value.find('<') != value.npos) return fail("< in attribute " + key);
        entities(value);
        if (!seen.insert(key).second) return fail("attribute twice: " + key);
        if (key == "id" && !ids_.insert(std::string(value)).second)
            return fail("id twice: " + std::string(value));
        at_ = end + 1;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::string error_;
    std::vector<std::string> stack_;
    std::set<std::string> ids_;
    int roots_ = 0;
};

}  // namespace

std::string xml_problem(std::string_view text) { return Reader(text).problem(); }

}  // namespace assay::report
