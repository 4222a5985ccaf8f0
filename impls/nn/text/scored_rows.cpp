#include "impls/nn/text/scored_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "suite/base/error.hpp"

namespace assay::nn {
namespace {

constexpr std::string_view turn_start = "<|im_start|>", turn_end = "<|im_end|>";

void append(ScoredRow& row, std::string_view text, bool scored, bool special,
            const Tokenizer& tokenizer) {
    const auto ids = tokenizer.encode(text, special);
    row.tokens.insert(row.tokens.end(), ids.begin(), ids.end());
    row.scored.resize(row.tokens.size(), scored);
}

/// What is wrong with a line, without where.
struct BadRow {
    std::string why;
};

const std::string& member_text(const nlohmann::json& object, const char* member) {
    const auto found = object.find(member);
    if (found == object.end() || !found->is_string())
        throw BadRow{fmt::format("\"{}\" is missing or no string", member)};
    return found->get_ref<const std::string&>();
}

void append_turn(ScoredRow& row, const std::string& role, const std::string& content,
                 const Tokenizer& tokenizer) {
    const bool answer = role == "assistant";
    // What a user wrote is never taken for a special token, whatever it looks like.
    append(row, turn_start, false, true, tokenizer);
    append(row, role + "\n", false, false, tokenizer);
    append(row, content, answer, false, tokenizer);
    append(row, turn_end, answer, true, tokenizer);
    append(row, "\n", false, false, tokenizer);
}

ScoredRow chat_row(const nlohmann::json& messages, const Tokenizer& tokenizer,
                   const std::string& default_system) {
    if (!messages.is_array() || messages.empty())
        throw BadRow{"\"messages\" is no list of messages"};
    if (!tokenizer.id_of(turn_start) || !tokenizer.id_of(turn_end))
        throw BadRow{
            "\"messages\" are written as ChatML, whose <|im_start|> and <|im_end|> the model's "
            "tokenizer does not have; give \"prompt\" and \"completion\""};
    ScoredRow row;
    for (const auto& message : messages) {
        if (!message.is_object()) throw BadRow{"a message is no object"};
        const std::string& role = member_text(message, "role");
        if (role.empty() || role.find('\n') != std::string::npos)
            throw BadRow{"a message's \"role\" is empty or has more than one line"};
        if (row.tokens.empty() && role != "system" && !default_system.empty())
            append_turn(row, "system", default_system, tokenizer);
        append_turn(row, role, member_text(message, "content"), tokenizer);
    }
    return row;
}

ScoredRow row_of(const nlohmann::json& object, const Tokenizer& tokenizer,
                 const RowReading& reading) {
    if (object.contains("messages"))
        return chat_row(object.at("messages"), tokenizer, reading.default_system);
    if (object.contains("prompt") || object.contains("completion"))
        return answered_prompt(member_text(object, "prompt"), member_text(object, "completion"),
                               tokenizer);
    if (!object.contains("text"))
        throw BadRow{
            "a row has \"messages\", or \"prompt\" and \"completion\", or \"text\", and this one "
            "has none of them"};
    return answered_prompt("", member_text(object, "text"), tokenizer);
}

}  // namespace

std::size_t ScoredRow::scored_tokens() const {
    if (scored.empty()) return 0;
    return static_cast<std::size_t>(std::count(scored.begin() + 1, scored.end(), true));
}

ScoredRow answered_prompt(std::string_view prompt, std::string_view answer,
                          const Tokenizer& tokenizer) {
    ScoredRow row;
    append(row, prompt, false, false, tokenizer);
    append(row, answer, true, false, tokenizer);
    return row;
}

std::vector<ScoredRow> parse_scored_rows(std::string_view text, std::string_view origin,
                                         const Tokenizer& tokenizer, const RowReading& reading) {
    const auto most = static_cast<std::size_t>(reading.context) + 1;
    std::vector<ScoredRow> rows;
    std::size_t at = 0, number = 0;
    while (at < text.size()) {
        const auto end = std::min(text.find('\n', at), text.size());
        const auto line = text.substr(at, end - at);
        at = end + 1;
        ++number;
        if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
        try {
            const auto object = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
            if (!object.is_object()) throw BadRow{"no JSON object"};
            ScoredRow row = row_of(object, tokenizer, reading);
            if (row.tokens.size() > most) {
                row.tokens.resize(most);
                row.scored.resize(most);
            }
            if (row.scored_tokens() == 0)
                throw BadRow{fmt::format(
                    "a row with 0 scored tokens among its first {}; give it an answer, or a longer "
                    "context",
                    most)};
            rows.push_back(std::move(row));
        } catch (const BadRow& bad) {
            throw UserError(fmt::format("{}:{}: {}", origin, number, bad.why));
        }
    }
    if (rows.empty()) throw UserError(fmt::format("{}: no rows", origin));
    return rows;
}

std::vector<ScoredRow> read_scored_rows(const std::filesystem::path& file,
                                        const Tokenizer& tokenizer, const RowReading& reading) {
    std::ifstream in(file, std::ios::binary);
    if (!in || std::filesystem::is_directory(file))
        throw UserError(file.string() + ": cannot be read; give a file of JSON Lines");
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    return parse_scored_rows(text, file.string(), tokenizer, reading);
}

}  // namespace assay::nn
