#include "impls/decode/requests/stop_texts.hpp"

#include <algorithm>

namespace assay::decode {

bool StopTexts::add(std::string_view text) {
    tail_ += text;
    std::size_t longest = 0;
    for (const std::string& stop : stops_) {
        // One that was complete before this token would have ended the request.
        const std::size_t before = tail_.size() - text.size();
        if (tail_.find(stop, before - std::min(before, stop.size() - 1)) != std::string::npos)
            return true;
        longest = std::max(longest, stop.size());
    }
    if (tail_.size() >= longest) tail_.erase(0, tail_.size() - (longest - 1));
    return false;
}

}  // namespace assay::decode
