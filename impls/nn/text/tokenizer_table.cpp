#include "impls/nn/text/tokenizer_table.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>

#include "impls/nn/files/untrusted_file.hpp"
#include "impls/nn/text/chat.hpp"
#include "impls/nn/text/unicode.hpp"
#include "suite/base/error.hpp"

namespace assay::nn {
namespace {

std::uint64_t key(int left, int right) {
    return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 |
           static_cast<std::uint32_t>(right);
}

constexpr int gone = -1;  // token of a place that was merged into the one before it

/// The word as a list whose places can be merged.
struct Place {
    int token;
    int before, after;  ///< −1 and the number of places: none
};

/// A pair that could be merged when it was found. It is out of date when its tokens have changed.
struct Candidate {
    int rank;
    int place;  ///< of the left token
    int left, right, merged;

    bool operator>(const Candidate& other) const {
        return rank != other.rank ? rank > other.rank : place > other.place;
    }
};

}  // namespace

bool Merges::add(int left, int right, int rank, int merged) {
    return merges_.try_emplace(key(left, right), Merge{rank, merged}).second;
}

const Merges::Merge* Merges::find(int left, int right) const {
    const auto found = merges_.find(key(left, right));
    return found == merges_.end() ? nullptr : &found->second;
}

void Merges::apply(std::vector<int>& word) const {
    const int size = static_cast<int>(word.size());
    // Kept between calls: a text has many short words.
    thread_local std::vector<Place> places;
    thread_local std::vector<Candidate> heap;
    places.clear();
    heap.clear();
    for (int i = 0; i < size; ++i) places.push_back({word[i], i - 1, i + 1});

    const auto consider = [&](int place) {
        const int after = places[place].after;
        if (after >= size) return false;
        const int left = places[place].token, right = places[after].token;
        const Merge* merge = find(left, right);
        if (merge) heap.push_back({merge->rank, place, left, right, merge->merged});
        return merge != nullptr;
    };
    const std::greater<> later;
    for (int i = 0; i < size; ++i) consider(i);
    std::make_heap(heap.begin(), heap.end(), later);
    while (!heap.empty()) {
        std::pop_heap(heap.begin(), heap.end(), later);
        const Candidate best = heap.back();
        heap.pop_back();
        Place& left = places[best.place];
        if (left.token != best.left || left.after >= size) continue;
        Place& right = places[left.after];
        if (right.token != best.right) continue;
        left.token = best.merged;
        right.token = gone;
        left.after = right.after;
        if (left.after < size) places[left.after].before = best.place;
        if (left.before >= 0 && consider(left.before))
            std::push_heap(heap.begin(), heap.end(), later);
        if (consider(best.place)) std::push_heap(heap.begin(), heap.end(), later);
    }
    word.clear();
    for (int i = 0; i < size; i = places[i].after) word.push_back(places[i].token);
}

void WrittenTokens::add(std::string_view written, int id) {
    auto& entries = by_first_byte_[static_cast<unsigned char>(written.front())];
    const auto shorter = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) {
        return entry.written.size() < written.size();
    });
    entries.insert(shorter, {std::string(written), id});
}

WrittenTokens::Found WrittenTokens::first(std::string_view text) const {
    for (std::size_t at = 0; at < text.size(); ++at)
        for (const Entry& entry : by_first_byte_[static_cast<unsigned char>(text[at])])
            if (text.substr(at).starts_with(entry.written))
                return {at, entry.written.size(), entry.id};
    return {text.size(), 0, 0};
}

namespace {

[[noreturn]] void fail(const std::string& what) {
    throw UserError("the tokenizer's tables contradict themselves: " + what +
                    "; the file is damaged or was converted wrongly, fetch it again");
}

std::string named(int id, const std::string& written) {
    return "token " + std::to_string(id) + " " + shown(written);
}

/// Whether models of this kind close a document or a turn by it.
bool closes_text(std::string_view written) {
    constexpr std::array<std::string_view, 5> endings{"<|endoftext|>", turn_end, "<|eot_id|>",
                                                      "<|end_of_text|>", "</s>"};
    return std::find(endings.begin(), endings.end(), written) != endings.end();
}

std::optional<int> checked(std::optional<int> id, std::size_t size, const char* name) {
    if (id && (*id < 0 || static_cast<std::size_t>(*id) >= size))
        fail(std::string(name) + " has id " + std::to_string(*id) + ", the vocabulary " +
             std::to_string(size) + " tokens");
    return id;
}

}  // namespace

Tokenizer::Table::Table(const Vocabulary& vocabulary)
    : words(vocabulary.words),
      words_before_merges(vocabulary.words_before_merges),
      composed(vocabulary.composed) {
    const std::size_t size = vocabulary.tokens.size();
    if (size == 0) fail("there are no tokens");
    if (size > std::size_t{std::numeric_limits<int>::max()}) fail("there are too many tokens");
    start_of_text = checked(vocabulary.start_of_text, size, "the token that starts a text");
    end_of_text = checked(vocabulary.end_of_text, size, "the token that ends a text");
    text_ends = vocabulary.text_ends;
    if (end_of_text) text_ends.push_back(*end_of_text);

    tokens.reserve(size);  // `ids` points into the entries
    ids.reserve(size);
    for (const Token& token : vocabulary.tokens) add_token(static_cast<int>(tokens.size()), token);
    byte_tokens.fill(-1);
    for (std::size_t byte = 0; byte < byte_tokens.size(); ++byte) {
        const auto found = ids.find(std::string(1, static_cast<char>(byte)));
        if (found != ids.end() && !tokens[static_cast<std::size_t>(found->second)].special)
            byte_tokens[byte] = found->second;
    }
    for (std::size_t id = 0; id < size; ++id)
        if (tokens[id].special && closes_text(tokens[id].text))
            text_ends.push_back(static_cast<int>(id));
    std::sort(text_ends.begin(), text_ends.end());
    text_ends.erase(std::unique(text_ends.begin(), text_ends.end()), text_ends.end());
    int rank = 0;
    for (const auto& merge : vocabulary.merges) add_merge(rank++, merge);
}

void Tokenizer::Table::add_token(int id, const Token& token) {
    // What opens or closes turns is never taken from a text by itself, whatever a file calls it.
    const bool turns = token.kind == TokenKind::literal &&
                       (token.written == turn_start || closes_text(token.written) ||
                        std::find(text_ends.begin(), text_ends.end(), id) != text_ends.end());
    const TokenKind kind = turns ? TokenKind::control : token.kind;
    Entry entry{token.written, kind == TokenKind::control || kind == TokenKind::unused};
    if (kind == TokenKind::normal) {
        const auto bytes = from_byte_letters(token.written);
        if (!bytes) fail(named(id, token.written) + " is not written in byte letters");
        entry.text = *bytes;
    }
    if (entry.text.empty() && kind != TokenKind::unused)
        fail("token " + std::to_string(id) + " is empty");
    tokens.push_back(std::move(entry));
    const std::string& text = tokens.back().text;
    const auto [place, is_new] = ids.try_emplace(text, id);
    if (!is_new) fail(named(id, token.written) + " is also token " + std::to_string(place->second));
    if (kind == TokenKind::literal) literals.add(text, id);
    if (kind == TokenKind::literal || kind == TokenKind::control) all_written.add(text, id);
}

int Tokenizer::Table::part_of_merge(int rank, const std::string& written) const {
    if (const auto bytes = from_byte_letters(written)) {
        const auto found = ids.find(*bytes);
        if (found != ids.end() && !tokens[static_cast<std::size_t>(found->second)].special)
            return found->second;
    }
    fail("merge " + std::to_string(rank) + " is about " + shown(written) + ", which is no token");
}

void Tokenizer::Table::add_merge(int rank, const std::pair<std::string, std::string>& merge) {
    const int left = part_of_merge(rank, merge.first), right = part_of_merge(rank, merge.second);
    const int merged = part_of_merge(rank, merge.first + merge.second);
    if (!merges.add(left, right, rank, merged))
        fail("merge " + std::to_string(rank) + " (" + shown(merge.first) + " and " +
             shown(merge.second) + ") is there twice");
}

const Tokenizer::Table::Entry& Tokenizer::Table::at(int id) const {
    if (id < 0 || static_cast<std::size_t>(id) >= tokens.size())
        throw UserError("token id " + std::to_string(id) + " is outside the vocabulary of " +
                        std::to_string(tokens.size()) + " tokens");
    return tokens[static_cast<std::size_t>(id)];
}

void Tokenizer::Table::append_words(std::string_view text, std::vector<int>& out,
                                    BytesWithoutToken& missing) const {
    while (!text.empty()) {
        const std::size_t bytes = first_word(words, text);
        append_word(text.substr(0, bytes), out, missing);
        text.remove_prefix(bytes);
    }
}

void Tokenizer::Table::append_word(std::string_view word, std::vector<int>& out,
                                   BytesWithoutToken& missing) const {
    if (words_before_merges) {
        const auto found = ids.find(word);
        if (found != ids.end() && !tokens[static_cast<std::size_t>(found->second)].special) {
            out.push_back(found->second);
            return;
        }
    }
    thread_local std::vector<int> parts;  // kept between calls: a text has many short words
    parts.clear();
    for (const char& byte : word) {
        const int id = byte_tokens[static_cast<unsigned char>(byte)];
        if (id >= 0)
            parts.push_back(id);
        else if (missing.count++ == 0)
            missing.first = &byte;
    }
    merges.apply(parts);
    out.insert(out.end(), parts.begin(), parts.end());
}

}  // namespace assay::nn
