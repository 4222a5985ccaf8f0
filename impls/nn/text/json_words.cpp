#include "impls/nn/text/json_words.hpp"

#include <string>
#include <vector>

#include "impls/nn/text/json_parts.hpp"

namespace assay::nn {

namespace {

using nlohmann::json;

/// The steps of a pre-tokenizer, of which a Sequence has several.
std::vector<const json*> steps_of(const json& pre_tokenizer) {
    if (text_member(pre_tokenizer, "type", "") != "Sequence") return {&pre_tokenizer};
    std::vector<const json*> steps;
    for (const json& step : member(pre_tokenizer, "pretokenizers")) steps.push_back(&step);
    return steps;
}

/// Whether it is ByteLevel that cuts by its own pattern (`cuts`), or that does not.
bool is_byte_level(const json& step, bool cuts) {
    if (text_member(step, "type", "") != "ByteLevel") return false;
    if (flag_member(step, "add_prefix_space", true))
        refuse_tokenizer_json("it puts a space in front of texts (add_prefix_space)");
    return flag_member(step, "use_regex", true) == cuts;
}

bool is_llama3_split(const json& step) {
    constexpr std::string_view pattern =
        R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})"
        R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
    return text_member(step, "type", "") == "Split" &&
           text_member(member(step, "pattern"), "Regex", "") == pattern &&
           text_member(step, "behavior", "") == "Isolated" && !flag_member(step, "invert", false);
}

bool is_single_digits(const json& step) {
    return text_member(step, "type", "") == "Digits" &&
           flag_member(step, "individual_digits", false);
}

}  // namespace

WordRule words_of_pre_tokenizer(const json& pre_tokenizer) {
    const auto steps = steps_of(pre_tokenizer);
    if (steps.size() == 1 && is_byte_level(*steps[0], true)) return WordRule::gpt2;
    if (steps.size() == 2 && is_single_digits(*steps[0]) && is_byte_level(*steps[1], true))
        return WordRule::smollm;
    if (steps.size() == 2 && is_llama3_split(*steps[0]) && is_byte_level(*steps[1], false))
        return WordRule::llama3;
    std::string types;
    for (const json* step : steps)
        types.append(types.empty() ? "" : ", ").append(text_member(*step, "type", "none"));
    refuse_tokenizer_json("its pre-tokenizer (" + types +
                          ") is none of: ByteLevel with its own pattern, that after Digits "
                          "(each alone), ByteLevel after a Split by LLaMA 3's pattern");
}

}  // namespace assay::nn
