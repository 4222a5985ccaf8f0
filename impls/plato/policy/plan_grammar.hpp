// The grammar of plans, a character at a time: which texts can still become one. As a mask over a
// model's tokens it lets the model write nothing else.
#pragma once

#include <string_view>

namespace assay::plato {

/// "INDEX. TITLE | deps: LIST\n" three to nine times, then "END\n"; INDEX counts up, LIST is - or
/// ascending numbers below INDEX with commas. Of a text that it takes PlanParser warns of nothing:
/// a title begins with a character that belongs to titles and has no bar in it, of any width.
/// Titles have at most sixty bytes, so that a plan ends.
class PlanGrammar {
  public:
    static constexpr int least_nodes = 3, most_nodes = 9, most_title = 60;

    /// False: no plan goes on like this; nothing has changed then.
    bool take(char next);
    bool take(std::string_view text);  ///< all of it, or nothing
    bool complete() const { return where_ == Where::done; }
    int nodes() const { return nodes_; }

  private:
    enum class Where { line, after_index, title, after_title, list, after_number, end, done };
    bool expect(std::string_view text, char next, Where then);
    bool take_in_title(char next);

    Where where_ = Where::line;
    int nodes_ = 0;    // whose lines have begun
    int length_ = 0;   // of the title, or of a fixed text
    int last_ = 0;     // number of the list; 0: none yet
    char before_ = 0;  // the title's last but one
    char newest_ = 0;  // and its last
};

}  // namespace assay::plato
