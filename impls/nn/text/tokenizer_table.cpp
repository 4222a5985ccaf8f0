#include "impls/nn/text/tokenizer_table.hpp"

#include <limits>

#include "impls/nn/text/byte_letters.hpp"
#include "suite/experiment/error.hpp"

namespace assay::nn {

namespace {

[[noreturn]] void fail(const std::string& what) {
    throw UserError("the tokenizer's tables contradict themselves: " + what +
                    "; the file is damaged or was converted wrongly, fetch it again");
}

std::string named(int id, const std::string& written) {
    return "token " + std::to_string(id) + " \"" + written + "\"";
}

std::optional<int> checked(std::optional<int> id, std::size_t size, const char* name) {
    if (id && (*id < 0 || static_cast<std::size_t>(*id) >= size))
        fail(std::string(name) + " has id " + std::to_string(*id) + ", the vocabulary " +
             std::to_string(size) + " tokens");
    return id;
}

}  // namespace

Tokenizer::Table::Table(const Vocabulary& vocabulary)
    : words(vocabulary.words), words_before_merges(vocabulary.words_before_merges) {
    const std::size_t size = vocabulary.tokens.size();
    if (size == 0) fail("there are no tokens");
    if (size > std::size_t{std::numeric_limits<int>::max()}) fail("there are too many tokens");
    start_of_text = checked(vocabulary.start_of_text, size, "the token that starts a text");
    end_of_text = checked(vocabulary.end_of_text, size, "the token that ends a text");

    tokens.reserve(size);  // `ids` points into the entries
    ids.reserve(size);
    for (const Token& token : vocabulary.tokens) add_token(static_cast<int>(tokens.size()), token);
    byte_tokens.fill(-1);
    for (std::size_t byte = 0; byte < byte_tokens.size(); ++byte) {
        const auto found = ids.find(std::string(1, static_cast<char>(byte)));
        if (found != ids.end() && !tokens[static_cast<std::size_t>(found->second)].special)
            byte_tokens[byte] = found->second;
    }
    int rank = 0;
    for (const auto& merge : vocabulary.merges) add_merge(rank++, merge);
}

void Tokenizer::Table::add_token(int id, const Token& token) {
    Entry entry{token.written, token.kind == TokenKind::control || token.kind == TokenKind::unused};
    if (token.kind == TokenKind::normal) {
        const auto bytes = from_byte_letters(token.written);
        if (!bytes) fail(named(id, token.written) + " is not written in byte letters");
        entry.text = *bytes;
    }
    if (entry.text.empty() && token.kind != TokenKind::unused)
        fail("token " + std::to_string(id) + " is empty");
    tokens.push_back(std::move(entry));
    const std::string& text = tokens.back().text;
    const auto [place, is_new] = ids.try_emplace(text, id);
    if (!is_new) fail(named(id, token.written) + " is also token " + std::to_string(place->second));
    if (token.kind == TokenKind::literal) literals.add(text, id);
    if (token.kind == TokenKind::literal || token.kind == TokenKind::control)
        all_written.add(text, id);
}

int Tokenizer::Table::part_of_merge(int rank, const std::string& written) const {
    if (const auto bytes = from_byte_letters(written)) {
        const auto found = ids.find(*bytes);
        if (found != ids.end() && !tokens[static_cast<std::size_t>(found->second)].special)
            return found->second;
    }
    fail("merge " + std::to_string(rank) + " is about \"" + written + "\", which is no token");
}

void Tokenizer::Table::add_merge(int rank, const std::pair<std::string, std::string>& merge) {
    const int left = part_of_merge(rank, merge.first), right = part_of_merge(rank, merge.second);
    const int merged = part_of_merge(rank, merge.first + merge.second);
    if (!merges.add(left, right, rank, merged))
        fail("merge " + std::to_string(rank) + " (\"" + merge.first + "\" and \"" + merge.second +
             "\") is there twice");
}

const Tokenizer::Table::Entry& Tokenizer::Table::at(int id) const {
    if (id < 0 || static_cast<std::size_t>(id) >= tokens.size())
        throw UserError("token id " + std::to_string(id) + " is outside the vocabulary of " +
                        std::to_string(tokens.size()) + " tokens");
    return tokens[static_cast<std::size_t>(id)];
}

void Tokenizer::Table::append_words(std::string_view text, std::vector<int>& out) const {
    while (!text.empty()) {
        const std::size_t bytes = first_word(words, text);
        append_word(text.substr(0, bytes), out);
        text.remove_prefix(bytes);
    }
}

void Tokenizer::Table::append_word(std::string_view word, std::vector<int>& out) const {
    if (words_before_merges) {
        const auto found = ids.find(word);
        if (found != ids.end() && !tokens[static_cast<std::size_t>(found->second)].special) {
            out.push_back(found->second);
            return;
        }
    }
    thread_local std::vector<int> parts;  // kept between calls: a text has many short words
    parts.clear();
    for (const char byte : word)
        if (const int id = byte_tokens[static_cast<unsigned char>(byte)]; id >= 0)
            parts.push_back(id);
    merges.apply(parts);
    out.insert(out.end(), parts.begin(), parts.end());
}

}  // namespace assay::nn
