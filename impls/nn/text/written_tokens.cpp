#include "impls/nn/text/written_tokens.hpp"

#include <algorithm>

namespace assay::nn {

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

}  // namespace assay::nn
