// A page for the terminal, written from top to bottom: lines, sentences that are broken at blanks,
// tables.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <utility>

#include "suite/report/text/terminal_text.hpp"
#include "suite/report/text/text_table.hpp"

namespace assay::report {

class TextPage {
  public:
    /// `columns`: what sentences and tables keep to.
    explicit TextPage(std::size_t columns) : columns_(columns) {}

    const std::string& text() const { return text_; }

    template <typename... Arguments>
    void line(fmt::format_string<Arguments...> what, Arguments&&... arguments) {
        text_ += fmt::format(what, std::forward<Arguments>(arguments)...) + '\n';
    }
    void empty_line() { text_ += '\n'; }
    /// Broken at blanks; later lines begin as far in as `head` is long.
    void sentence(const std::string& says, const std::string& head = "") {
        const std::string margin(head.size(), ' ');
        const std::size_t room = columns_ > head.size() + 1 ? columns_ - head.size() : 1;
        bool first = true;
        for (const std::string& piece : wrapped(says, room)) {
            text_ += (first ? head : margin) + piece + '\n';
            first = false;
        }
    }
    /// Its first column again where it is broken into several.
    void table(const Grid& grid) { text_ += text_tables(grid, 1, columns_); }

  private:
    std::size_t columns_;
    std::string text_;
};

}  // namespace assay::report
