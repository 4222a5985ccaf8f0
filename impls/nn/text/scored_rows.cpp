#include "impls/nn/text/scored_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "impls/nn/text/chat.hpp"
#include "suite/base/error.hpp"
#include "suite/base/input_file.hpp"
#include "suite/base/json_text.hpp"

namespace assay::nn {
namespace {

void append(ScoredRow& row, const std::vector<int>& ids, bool scored) {
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
                 const TurnTokens& turn, const Tokenizer& tokenizer) {
    const bool answer = role == "assistant";
    append(row, {turn.start}, false);
    append(row, tokenizer.encode(role + "\n"), false);
    append(row, tokenizer.encode(content), answer);
    append(row, {turn.end}, answer);
    append(row, tokenizer.encode("\n"), false);
}

ScoredRow chat_row(const nlohmann::json& messages, const Tokenizer& tokenizer,
                   const std::string& default_system) {
    if (!messages.is_array() || messages.empty())
        throw BadRow{"\"messages\" is no list of messages"};
    const auto turn = turn_tokens(tokenizer);
    if (!turn)
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
            append_turn(row, "system", default_system, *turn, tokenizer);
        append_turn(row, role, member_text(message, "content"), *turn, tokenizer);
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

/// The same, with what the tokenizer refuses (bytes without a token) as a fault of the row.
ScoredRow encoded(const nlohmann::json& object, const Tokenizer& tokenizer,
                  const RowReading& reading) {
    try {
        return row_of(object, tokenizer, reading);
    } catch (const UserError& error) {
        throw BadRow{error.what()};
    }
}

}  // namespace

std::size_t ScoredRow::scored_tokens() const {
    if (scored.empty()) return 0;
    return static_cast<std::size_t>(std::count(scored.begin() + 1, scored.end(), true));
}

ScoredRow answered_prompt(std::string_view prompt, std::string_view answer,
                          const Tokenizer& tokenizer) {
    ScoredRow row;
    append(row, tokenizer.encode(prompt), false);
    append(row, tokenizer.encode(answer), true);
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
            const auto object = parse_json(line);
            if (!object.is_object()) throw BadRow{"no JSON object"};
            ScoredRow row = encoded(object, tokenizer, reading);
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
        } catch (const JsonError& error) {
            throw UserError(
                fmt::format("{}:{}:{}: {}", origin, number, error.column, error.what()));
        } catch (const BadRow& bad) {
            throw UserError(fmt::format("{}:{}: {}", origin, number, bad.why));
        }
    }
    if (rows.empty()) throw UserError(fmt::format("{}: no rows", origin));
    return rows;
}

std::vector<ScoredRow> read_scored_rows(const std::filesystem::path& file,
                                        const Tokenizer& tokenizer, const RowReading& reading) {
    const auto text = read_text_file(file);
    if (!text) throw UserError(file.string() + ": cannot be read; give a file of JSON Lines");
    return parse_scored_rows(*text, file.string(), tokenizer, reading);
}

}  // namespace assay::nn
