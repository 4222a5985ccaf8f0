#include "suite/report/text/short_labels.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string_view>

#include "suite/report/text/terminal_text.hpp"

namespace assay::report {
namespace {

using Letters = std::vector<std::string>;

Letters letters_of(const std::string& text) {
    Letters letters;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t bytes = code_point(text, at).bytes;
        letters.push_back(text.substr(at, bytes));
        at += bytes;
    }
    return letters;
}

std::string joined(Letters::const_iterator from, Letters::const_iterator to) {
    std::string text;
    for (; from != to; ++from) text += *from;
    return text;
}

/// The start or the end of a text with "…" at the cut, at most `columns` wide.
std::string start_of(const Letters& letters, std::size_t columns) {
    std::string text = joined(letters.begin(), letters.end());
    if (display_width(text) <= columns) return text;
    text.clear();
    for (const std::string& letter : letters) {
        if (display_width(text + letter) + 1 > columns) break;
        text += letter;
    }
    return columns == 0 ? std::string() : text + "…";
}

std::string end_of(const Letters& letters, std::size_t columns) {
    std::string text = joined(letters.begin(), letters.end());
    if (display_width(text) <= columns) return text;
    text.clear();
    for (auto letter = letters.rbegin(); letter != letters.rend(); ++letter) {
        if (display_width(*letter + text) + 1 > columns) break;
        text = *letter + text;
    }
    return columns == 0 ? std::string() : "…" + text;
}

/// How many letters all of them begin with.
std::ptrdiff_t shared_start(const std::vector<Letters>& all) {
    std::ptrdiff_t n = all.front().end() - all.front().begin();
    for (const Letters& letters : all) {
        const auto [here, there] =
            std::mismatch(all.front().begin(), all.front().end(), letters.begin(), letters.end());
        n = std::min(n, here - all.front().begin());
    }
    return n;
}

/// How many all of them end with, but for the first `start`.
std::ptrdiff_t shared_end(const std::vector<Letters>& all, std::ptrdiff_t start) {
    std::ptrdiff_t n = all.front().rend() - all.front().rbegin() - start;
    for (const Letters& letters : all) {
        const auto [here, there] = std::mismatch(all.front().rbegin(), all.front().rend() - start,
                                                 letters.rbegin(), letters.rend() - start);
        n = std::min(n, here - all.front().rbegin());
    }
    return n;
}

/// Of each, what is between the first `start` and the last `end` letters whole, and as much before
/// and behind it as there is room for; empty where there is none.
std::vector<std::string> cut_around(const std::vector<Letters>& all, std::ptrdiff_t start,
                                    std::ptrdiff_t end, std::size_t columns) {
    std::vector<std::string> cut;
    for (const Letters& letters : all) {
        const Letters before(letters.begin(), letters.begin() + start);
        const Letters behind(letters.end() - end, letters.end());
        const std::string kept = joined(letters.begin() + start, letters.end() - end);
        const std::size_t taken = display_width(kept);
        if (taken + 2 > columns) return {};
        const std::size_t left = columns - taken;
        const std::size_t wide_before = display_width(joined(before.begin(), before.end()));
        const std::size_t wide_behind = display_width(joined(behind.begin(), behind.end()));
        const std::size_t room =
            std::min(wide_before, std::max(left / 2, left - std::min(left, wide_behind)));
        cut.push_back(start_of(before, room) + kept + end_of(behind, left - room));
    }
    return cut;
}

/// What tells them apart stays, with the word that it is part of where there is room: "rows:64".
std::vector<std::string> around_differences(const std::vector<std::string>& labels,
                                            std::size_t columns) {
    std::vector<Letters> all;
    for (const std::string& label : labels) all.push_back(letters_of(label));
    const std::ptrdiff_t start = shared_start(all), end = shared_end(all, start);
    const auto separates = [](const std::string& letter) {
        return std::string_view(" /,<>").find(letter) != std::string_view::npos;
    };
    std::ptrdiff_t word = start, word_end = end;
    while (word > 0 && !separates(*(all.front().begin() + word - 1))) --word;
    while (word_end > 0 && !separates(*(all.front().end() - word_end))) --word_end;
    std::vector<std::string> cut = cut_around(all, word, word_end, columns);
    return cut.empty() ? cut_around(all, start, end, columns) : cut;
}

/// "BM_copy", "/rows:64", " real_time": each but the first begins with what separates it.
std::vector<std::string> fields_of(const std::string& label) {
    std::vector<std::string> fields(1);
    for (const char c : label) {
        if ((c == '/' || c == ' ') && !fields.back().empty()) fields.emplace_back();
        fields.back() += c;
    }
    return fields;
}

/// Fields that all of them share, side by side, or one in which they differ.
struct FieldRun {
    bool shared = false;
    std::vector<std::string> of_label;
    std::size_t width = 0;  ///< of the widest
};

std::vector<FieldRun> runs_of(const std::vector<std::vector<std::string>>& fields) {
    std::vector<FieldRun> runs;
    for (std::size_t field = 0; field < fields.front().size(); ++field) {
        const bool shared = std::all_of(fields.begin(), fields.end(), [&](const auto& of_label) {
            return of_label[field] == fields.front()[field];
        });
        if (runs.empty() || runs.back().shared != shared)
            runs.push_back({shared, std::vector<std::string>(fields.size()), 0});
        FieldRun& run = runs.back();
        for (std::size_t i = 0; i < fields.size(); ++i) {
            run.of_label[i] += fields[i][field];
            run.width = std::max(run.width, display_width(run.of_label[i]));
        }
    }
    return runs;
}

/// "BM_mat…/rows:64/…/threads:1/…": the fields in which they differ whole, of the others what there
/// is room for, the last ones first; empty where there is none, or they have no fields in common.
std::vector<std::string> by_fields(const std::vector<std::string>& labels, std::size_t columns) {
    std::vector<std::vector<std::string>> fields;
    for (const std::string& label : labels) fields.push_back(fields_of(label));
    for (const auto& of_label : fields)
        if (of_label.size() != fields.front().size()) return {};
    std::vector<FieldRun> runs = runs_of(fields);
    const auto least = [&](const FieldRun& run) {
        if (!run.shared) return run.width;
        return std::min<std::size_t>(run.width, &run == runs.data() ? 1 : 2);
    };
    std::size_t taken = 0;
    for (const FieldRun& run : runs) taken += least(run);
    if (taken > columns) return {};
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
        if (!run->shared || run->width <= least(*run)) continue;
        const std::string& text = run->of_label.front();
        const std::size_t room = columns - taken + least(*run);
        const bool is_first = &*run == runs.data();
        if (run->width <= room)
            taken += run->width - least(*run);
        else if (is_first)
            run->of_label.assign(labels.size(), start_of(letters_of(text), room));
        else
            run->of_label.assign(labels.size(), text.substr(0, 1) + "…");
    }
    std::vector<std::string> cut(labels.size());
    for (const FieldRun& run : runs)
        for (std::size_t i = 0; i < labels.size(); ++i) cut[i] += run.of_label[i];
    return cut;
}

/// Lines of at most `columns`, broken behind a separator where one is near.
std::string in_lines(const std::string& label, std::size_t columns) {
    constexpr std::string_view separators = " /,:;_=>";
    std::string text;
    Letters left = letters_of(label);
    while (!left.empty()) {
        std::size_t fits = 0, behind_separator = 0, width = 0;
        for (; fits < left.size() && width + display_width(left[fits]) <= columns; ++fits) {
            width += display_width(left[fits]);
            if (separators.find(left[fits]) != separators.npos) behind_separator = fits + 1;
        }
        fits = std::max<std::size_t>(fits, 1);
        if (fits < left.size() && 2 * behind_separator > fits) fits = behind_separator;
        const auto end = left.begin() + static_cast<std::ptrdiff_t>(fits);
        text += (text.empty() ? "" : "\n") + joined(left.begin(), end);
        left.erase(left.begin(), end);
    }
    return text;
}

}  // namespace

std::vector<std::string> shortened_apart(const std::vector<std::string>& labels,
                                         std::size_t columns) {
    std::map<std::string, std::set<std::string>> alike;  // by what they look like
    for (const std::string& label : labels) alike[shortened(label, columns)].insert(label);
    std::map<std::string, std::string> becomes;
    std::map<std::string, int> uses;
    for (const auto& [look, all] : alike) {
        const std::vector<std::string> group(all.begin(), all.end());
        std::vector<std::string> cut{look};
        if (group.size() > 1) cut = by_fields(group, columns);
        if (cut.empty()) cut = around_differences(group, columns);
        for (std::size_t i = 0; i < group.size(); ++i)
            ++uses[becomes[group[i]] = cut.empty() ? look : cut[i]];
    }
    std::vector<std::string> result;
    for (const std::string& label : labels) {
        const std::string& look = becomes[label];
        result.push_back(uses[look] > 1 ? in_lines(label, columns) : look);
    }
    return result;
}

}  // namespace assay::report
