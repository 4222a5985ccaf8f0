// Comma-separated values, RFC 4180.
#include "suite/import_export/csv_document.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "suite/base/error.hpp"
#include "suite/base/input_file.hpp"

namespace assay::import_export {
namespace {

class CsvParser {
  public:
    CsvParser(std::string_view text, const std::string& source, char separator)
        : text_(without_byte_order_mark(text)), source_(source), separator_(separator) {}

    std::vector<std::vector<CsvField>> lines() {
        std::vector<std::vector<CsvField>> all;
        while (at_ < text_.size()) {
            if (end_of_line()) continue;
            std::vector<CsvField> line{field()};
            while (at_ < text_.size() && text_[at_] == separator_) {
                step();
                line.push_back(field());
            }
            if (at_ < text_.size() && !end_of_line())
                fail(fmt::format("expected a {} or the end of the line", separator_ == ',' ? "comma"
                                                                         : separator_ == ';'
                                                                             ? "semicolon"
                                                                             : "tab"));
            all.push_back(std::move(line));
        }
        return all;
    }

  private:
    [[noreturn]] void fail(const std::string& what) const {
        throw UserError(fmt::format("{}:{}:{}: {}", source_, line_, column_, what));
    }

    void step() {
        if (text_[at_++] == '\n') {
            ++line_;
            column_ = 1;
        } else {
            ++column_;
        }
    }

    bool end_of_line() {
        if (text_.substr(at_).starts_with("\r\n")) step();
        if (text_[at_] != '\n') return false;
        step();
        return true;
    }

    CsvField field() {
        CsvField field{"", line_, column_};
        if (at_ < text_.size() && text_[at_] == '"') {
            quoted(field);
            return field;
        }
        while (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n' &&
               !text_.substr(at_).starts_with("\r\n")) {
            if (text_[at_] == '"') fail("a quote inside a field that does not begin with one");
            field.text += text_[at_];
            step();
        }
        return field;
    }

    void quoted(CsvField& field) {
        for (step();;) {
            if (at_ == text_.size())
                throw UserError(fmt::format("{}:{}:{}: this quote is never closed", source_,
                                            field.line, field.column));
            const char c = text_[at_];
            step();
            if (c == '"') {
                if (at_ == text_.size() || text_[at_] != '"') return;
                step();
            }
            field.text += c;
        }
    }

    std::string_view text_;
    const std::string& source_;
    char separator_;
    std::size_t at_ = 0, line_ = 1, column_ = 1;
};

}  // namespace

std::vector<std::vector<CsvField>> parse_csv(std::string_view text, const std::string& source,
                                             char separator) {
    return CsvParser(text, source, separator).lines();
}

char separator_of(std::string_view text) {
    const std::string_view line = text.substr(0, text.find('\n'));
    char most = ',';
    for (const char separator : {';', '\t'})
        if (std::count(line.begin(), line.end(), separator) >
            std::count(line.begin(), line.end(), most))
            most = separator;
    return most;
}

}  // namespace assay::import_export
