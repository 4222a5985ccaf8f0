#include "impls/plato/policy/plan_grammar.hpp"

namespace assay::plato {

bool PlanGrammar::expect(std::string_view text, char next, Where then) {
    if (next != text[static_cast<std::size_t>(length_)]) return false;
    if (++length_ == static_cast<int>(text.size())) {
        length_ = 0;
        where_ = then;
    }
    return true;
}

bool PlanGrammar::take(char next) {
    switch (where_) {
        case Where::line:
            if (next == 'E' && nodes_ >= least_nodes) {
                where_ = Where::end;
                return true;
            }
            if (nodes_ == most_nodes || next != '1' + nodes_) return false;
            ++nodes_;
            last_ = 0;
            where_ = Where::after_index;
            return true;
        case Where::after_index:
            return expect(". ", next, Where::title);
        case Where::title: {
            const bool blank = next == ' ';
            // A bar is set off by a blank, and a title does not begin with one.
            if (next == '|') {
                if (length_ == 0 || !blank_) return false;
                length_ = 0;
                blank_ = false;
                where_ = Where::after_title;
                return true;
            }
            const auto byte = static_cast<unsigned char>(next);
            if (byte < ' ' || byte == 0x7F || (blank && (length_ == 0 || blank_))) return false;
            if (length_ >= most_title && !blank) return false;
            if (blank_ && length_ >= most_title) return false;
            ++length_;
            blank_ = blank;
            return true;
        }
        case Where::after_title:
            return expect(" deps: ", next, Where::list);
        case Where::list:
            if (next == '-' && last_ == 0) {
                last_ = most_nodes;  // nothing may follow
                where_ = Where::after_number;
                return true;
            }
            if (next <= '0' + last_ || next >= '0' + nodes_) return false;
            last_ = next - '0';
            where_ = Where::after_number;
            return true;
        case Where::after_number:
            if (next == '\n') {
                where_ = Where::line;
                return true;
            }
            if (next != ',' || last_ + 1 >= nodes_) return false;
            where_ = Where::list;
            return true;
        case Where::end:
            return expect("ND\n", next, Where::done);
        case Where::done:
            return false;
    }
    return false;
}

bool PlanGrammar::take(std::string_view text) {
    PlanGrammar further = *this;
    for (const char next : text)
        if (!further.take(next)) return false;
    *this = further;
    return true;
}

}  // namespace assay::plato
