#include "suite/base/error.hpp"

#include <algorithm>
#include <cctype>

namespace assay {
namespace {

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& letter : out)
        letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return out;
}

// Optimal string alignment distance, three rows at a time.
std::size_t edit_distance(const std::string& a, const std::string& b) {
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before.swap(last);
        last.swap(row);
    }
    return last[b.size()];
}

}  // namespace

std::optional<std::string> nearest_id(std::string_view typed,
                                      const std::vector<std::string>& candidates) {
    // Longer than any id: nothing was mistyped, something else was pasted.
    if (typed.size() > 200) return std::nullopt;
    const std::string wanted = lower(typed);
    std::optional<std::string> best;
    std::size_t best_distance = 0;
    const auto consider = [&](const std::string& form, const std::string& candidate) {
        const std::size_t distance = edit_distance(wanted, form);
        if (2 * distance > std::max(form.size(), wanted.size())) return;
        if (best && distance >= best_distance) return;
        best = candidate;
        best_distance = distance;
    };
    for (const std::string& candidate : candidates) {
        const std::string form = lower(candidate);
        consider(form, candidate);
        if (const auto slash = form.find('/'); slash != std::string::npos)
            consider(form.substr(slash + 1), candidate);
    }
    return best;
}

}  // namespace assay
