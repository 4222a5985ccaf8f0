#include "impls/model/prompt.hpp"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

#include "impls/nn/text/chat.hpp"
#include "suite/base/error.hpp"
#include "suite/base/input_file.hpp"

namespace assay::model {

std::string given_text(std::string_view option, const std::string& value) {
    if (value != "-") return value;
    std::string text = InputFile(option, value).text();
    for (const char end : {'\n', '\r'})
        if (text.ends_with(end)) text.pop_back();
    return text;
}

std::vector<int> parse_ids(std::string_view text) {
    std::vector<int> ids;
    for (;;) {
        const std::size_t comma = text.find(',');
        const std::string_view one = text.substr(0, comma);
        const char* const end = one.data() + one.size();
        const auto [stop, error] = std::from_chars(one.data(), end, ids.emplace_back());
        if (error != std::errc{} || stop != end)
            throw UserError(
                fmt::format("--ids: '{}' is no token id; give whole numbers separated "
                            "by commas, for example 1,504,3575",
                            one));
        if (comma == std::string_view::npos) return ids;
        text.remove_prefix(comma + 1);
    }
}

FoundTokenizer find_tokenizer(const nn::TensorFile& file) {
    try {
        return {.tokenizer = nn::Tokenizer::of(file), .why_not = ""};
    } catch (const UserError& error) {
        return {.tokenizer = std::nullopt, .why_not = error.what()};
    }
}

std::vector<int> prompt_ids(const nn::TensorFile& file, const nn::Tokenizer& tokenizer,
                            const std::string& text, bool chat) {
    if (!chat) return tokenizer.encode(text);
    const auto system = nn::chat_default_system(file);
    if (!system)
        throw UserError(file.path().string() +
                        ": the model has no chat template of a known kind (ChatML); "
                        "leave --chat out");
    const nn::ChatMessage message{"user", text};
    return nn::chat_prompt({&message, 1}, *system, tokenizer);
}

}  // namespace assay::model
