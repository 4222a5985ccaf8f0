#include "impls/model/new_text.hpp"

#include <algorithm>
#include <utility>

#include "suite/base/error.hpp"

namespace assay::model {
namespace {

/// Of a text, bytes at its end that begin a character and do not complete it.
std::size_t begun_character(std::string_view text) {
    for (std::size_t bytes = 1; bytes <= std::min<std::size_t>(text.size(), 3); ++bytes) {
        const auto byte = static_cast<unsigned char>(text[text.size() - bytes]);
        if ((byte & 0xc0) == 0x80) continue;
        const std::size_t whole = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
        return whole > bytes ? bytes : 0;
    }
    return 0;
}

}  // namespace

NewText::NewText(const nn::Tokenizer& tokenizer, std::vector<int> stop_ids,
                 std::vector<std::string> stops)
    : tokenizer_(tokenizer), stop_ids_(std::move(stop_ids)), stops_(std::move(stops)) {
    if (std::any_of(stops_.begin(), stops_.end(), [](const auto& stop) { return stop.empty(); }))
        throw UserError("a stop string is empty; every text would end before its first token");
}

bool NewText::add(int id) {
    // A model may have more ids than its tokenizer.
    if (id >= tokenizer_.size() ||
        std::find(stop_ids_.begin(), stop_ids_.end(), id) != stop_ids_.end())
        return false;
    const std::size_t before = text_.size();
    text_ += tokenizer_.decode({&id, 1});
    std::size_t end = std::string::npos;
    for (const std::string& stop : stops_)
        end = std::min(end, text_.find(stop, before - std::min(before, stop.size() - 1)));
    if (end == std::string::npos) return false;
    text_.resize(end);
    return true;
}

std::size_t NewText::settled() const {
    const std::string_view text = text_;
    std::size_t open = begun_character(text);
    for (const std::string& stop : stops_)
        for (std::size_t bytes = std::min(stop.size() - 1, text.size()); bytes > open; --bytes)
            if (text.ends_with(std::string_view(stop).substr(0, bytes))) open = bytes;
    return text.size() - open;
}

}  // namespace assay::model
