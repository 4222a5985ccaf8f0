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

bool PlanGrammar::take_in_title(char next) {
    // A bar is set off by a blank.
    if (next == '|') {
        if (newest_ != ' ') return false;
        length_ = 0;
        before_ = newest_ = 0;
        where_ = Where::after_title;
        return true;
    }
    const auto byte = static_cast<unsigned char>(next);
    const bool blank = next == ' ';
    const bool long_enough = length_ >= most_title;
    if (byte < ' ' || byte == 0x7F || (long_enough && (!blank || newest_ == ' '))) return false;
    const auto behind = static_cast<unsigned char>(newest_);
    const auto first = static_cast<unsigned char>(before_);
    // What the parser takes for blanks and stars: also U+00A0, U+3000 and full-width ones.
    if (length_ == 0 && (blank || next == '*')) return false;
    if (length_ == 1 && ((behind == 0xC2 && byte == 0xA0) || (behind == 0xE3 && byte == 0x80) ||
                         (behind == 0xEF && (byte == 0xBC || byte == 0xBD))))
        return false;
    if (length_ > 0 && blank && newest_ == ' ') return false;
    if (first == 0xEF && behind == 0xBD && byte == 0x9C) return false;  // a full-width bar
    ++length_;
    before_ = newest_;
    newest_ = next;
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
        case Where::title:
            return take_in_title(next);
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
