#include "impls/dr_post_training/recipes/text_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "impls/nn/hashes.hpp"
#include "suite/base/error.hpp"
#include "suite/base/input_file.hpp"
#include "suite/data/catalog.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::dr_post_training {
namespace {

constexpr std::size_t least_text = 40, least_words = 8, prompt_words = 4;
constexpr std::size_t least_definitions = 1000, least_verses = 1000;
constexpr std::uint64_t uses = 4;  // of pools.hpp; each has every fourth definition
// Streams of draws.
constexpr std::uint64_t kind_stream = 1, word_stream = 2, other_stream = 3, verse_stream = 4,
                        use_stream = 5;

std::string_view without_space(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// Calls `take` with each line, without its end.
template <class Take>
void for_lines(std::string_view text, const Take& take) {
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        take(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

std::string head_word(std::string_view line) {
    for (const std::string_view end : {"%%%", "\\", ","}) line = line.substr(0, line.find(end));
    return std::string(without_space(line));
}

void demand(std::size_t found, std::size_t least, const char* what, std::string_view origin) {
    if (found < least)
        throw UserError(fmt::format("{}: {} {}, {} are the fewest that rows can be drawn from",
                                    origin, found, what, least));
}

std::uint64_t hash_of(std::uint64_t seed, std::uint64_t stream, std::uint64_t number) {
    return nn::counter_hash(nn::counter_hash(seed * 16 + stream) ^ nn::counter_hash(number));
}

std::string text_of(const std::string& id) {
    const auto file = data::locate(id);
    if (!file)
        throw SampleError(SampleStatus::unsupported,
                          fmt::format("{} is not here: `assay data fetch {}`", id, id));
    auto text = read_text_file(*file);
    if (!text) throw UserError(fmt::format("{}: cannot be read", file->string()));
    return std::move(*text);
}

}  // namespace

std::vector<Definition> parse_definitions(std::string_view text, std::string_view origin,
                                          std::size_t least) {
    std::vector<Definition> found;
    Definition current;
    bool in_head = false;
    const auto close = [&] {
        if (!current.word.empty() && !current.word.starts_with("00-") &&
            current.text.size() >= least_text)
            found.push_back(std::move(current));
        current = {};
    };
    for_lines(text, [&](std::string_view line) {
        const auto words = without_space(line);
        if (words.empty()) return;
        const bool indented = line.front() == ' ' || line.front() == '\t';
        if (indented) {
            in_head = false;
            if (current.word.empty()) return;
            if (!current.text.empty()) current.text += ' ';
            current.text += words;
        } else if (!in_head) {  // further lines of a head are other names
            close();
            in_head = true;
            current.word = head_word(words);
        }
    });
    close();
    demand(found.size(), least, "definitions", origin);
    return found;
}

std::vector<std::string> parse_verses(std::string_view text, std::string_view origin,
                                      std::size_t least) {
    std::vector<std::string> verses;
    for_lines(text, [&](std::string_view line) {
        const auto words = without_space(line);
        if (std::count(words.begin(), words.end(), ' ') + 1 >=
            static_cast<std::ptrdiff_t>(least_words))
            verses.emplace_back(words);
    });
    demand(verses.size(), least, "lines of eight words", origin);
    return verses;
}

TextRows::TextRows(std::vector<Definition> general, std::vector<std::string> verses,
                   std::vector<Definition> target, std::uint64_t seed)
    : general_(std::move(general)),
      target_(std::move(target)),
      verses_(std::move(verses)),
      seed_(seed) {
    std::vector<std::pair<std::uint64_t, std::size_t>> order;
    for (std::size_t i = 0; i < target_.size(); ++i)
        order.emplace_back(hash_of(seed, use_stream, i), i);
    std::sort(order.begin(), order.end());
    std::vector<Definition> shuffled;
    for (const auto& [key, place] : order) shuffled.push_back(std::move(target_[place]));
    target_ = std::move(shuffled);
}

const Definition& TextRows::drawn(const std::vector<Definition>& from, std::uint64_t stream,
                                  std::uint64_t number) const {
    return from[hash_of(seed_, stream, number) % from.size()];
}

PoolRow TextRows::general_row(const PoolShape& shape, std::uint64_t number) const {
    const double share = static_cast<double>(hash_of(seed_, kind_stream, number) >> 11) * 0x1p-53;
    if (share < shape.relevance + shape.noise) {
        const bool related = share < shape.relevance;
        const Definition& asked = drawn(general_, word_stream, number);
        const Definition& answered = related ? asked : drawn(general_, other_stream, number);
        return {"Define: " + asked.word + "\n", answered.text,
                related ? Kind::related : Kind::contrary};
    }
    const std::string& verse = verses_[hash_of(seed_, verse_stream, number) % verses_.size()];
    std::size_t end = 0;
    for (std::size_t word = 0; word < prompt_words; ++word) end = verse.find(' ', end + 1);
    return {"Continue: " + verse.substr(0, end) + "\n", verse.substr(end + 1), Kind::other};
}

PoolRow TextRows::target_row(Use use, std::uint64_t number) const {
    const auto place = number * uses + static_cast<std::uint64_t>(use);
    if (place >= target_.size())
        throw UserError(
            fmt::format("row {} of a use is asked for, but the target's {} definitions give each "
                        "of {} uses {} rows: ask for fewer rows, or give a longer dictionary",
                        number + 1, target_.size(), uses, target_.size() / uses));
    const Definition& entry = target_[place];
    return {"Define: " + entry.word + "\n", entry.text, Kind::related};
}

nn::ScoredRow cut_row(const PoolRow& row, const nn::Tokenizer& tokenizer) {
    auto scored = nn::answered_prompt(row.prompt, row.answer, tokenizer);
    // A word of more tokens than a row takes: at least one token of the answer stays.
    const auto first = static_cast<std::size_t>(
        std::find(scored.scored.begin(), scored.scored.end(), true) - scored.scored.begin());
    const auto length = std::min(scored.tokens.size(), std::max(text_row_tokens, first + 1));
    scored.tokens.resize(length);
    scored.scored.resize(length);
    return scored;
}

std::optional<std::string> text_lacks(const TextSources& sources) {
    for (const auto& id : {sources.weights, sources.dictionary, sources.verses, sources.target})
        if (!data::locate(id)) return fmt::format("{} is not here: `assay data fetch {}`", id, id);
    return std::nullopt;
}

std::vector<Input> text_inputs(const TextSources& sources) {
    std::vector<Input> inputs;
    for (const auto& [id, what] : {std::pair{sources.weights, "weights"},
                                   {sources.dictionary, "dictionary"},
                                   {sources.verses, "verses"},
                                   {sources.target, "target"}})
        if (auto input = data::input_of(id, what)) inputs.push_back(*std::move(input));
    return inputs;
}

TextRows read_text_rows(std::uint64_t seed, const TextSources& sources) {
    return {parse_definitions(text_of(sources.dictionary), sources.dictionary, least_definitions),
            parse_verses(text_of(sources.verses), sources.verses, least_verses),
            parse_definitions(text_of(sources.target), sources.target, least_definitions), seed};
}

std::filesystem::path weights_file(const TextSources& sources) {
    const auto file = data::locate(sources.weights);
    if (!file)
        throw SampleError(
            SampleStatus::unsupported,
            fmt::format("{} is not here: `assay data fetch {}`", sources.weights, sources.weights));
    return *file;
}

}  // namespace assay::dr_post_training
