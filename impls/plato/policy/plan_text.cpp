#include "impls/plato/policy/plan_text.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

namespace assay::plato {
namespace {

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// What is before `separator` is cut off `rest` and returned; nothing when it is not there.
std::optional<std::string_view> cut(std::string_view& rest, char separator) {
    const auto at = rest.find(separator);
    if (at == std::string_view::npos) return {};
    const auto before = rest.substr(0, at);
    rest.remove_prefix(at + 1);
    return trimmed(before);
}

// Digits alone; what is too large for an int is taken for the largest.
std::optional<int> number(std::string_view text) {
    if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return {};
    int value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    return result.ec == std::errc() ? value : std::numeric_limits<int>::max();
}

// "KEY: value" without its key.
std::optional<std::string_view> after_key(std::string_view part, std::string_view key) {
    part = trimmed(part);
    if (!part.starts_with(key)) return {};
    return trimmed(part.substr(key.size()));
}

// All numbers of "-" or "1, 2", as they stand.
std::optional<std::vector<int>> listed(std::string_view list) {
    std::vector<int> numbers;
    if (list == "-") return numbers;
    for (bool more = true; more;) {
        const auto before = cut(list, ',');
        more = before.has_value();
        const auto value = number(before.value_or(trimmed(list)));
        if (!value) return {};
        numbers.push_back(*value);
    }
    return numbers;
}

// The node of a line as the grammar has it, its dependencies as they stand.
std::optional<PlannedNode> node_of(std::string_view line, int index) {
    const auto named = cut(line, '.');
    if (!named || number(*named) != index) return {};
    const auto title = cut(line, '|');
    if (!title || title->empty()) return {};
    PlannedNode node;
    node.title = std::string(*title);
    const auto dependencies = cut(line, '|');
    const auto list = after_key(dependencies.value_or(line), "deps:");
    auto numbers = list ? listed(*list) : std::nullopt;
    if (!numbers) return {};
    node.dependencies = std::move(*numbers);
    if (!dependencies) return node;
    const auto difficulty = after_key(line, "d:");
    node.difficulty = difficulty ? number(*difficulty) : std::nullopt;
    if (!node.difficulty || *node.difficulty < 1 || *node.difficulty > 5) return {};
    return node;
}

}  // namespace

void PlanParser::feed(std::string_view text) {
    while (!ended_ && !text.empty()) {
        const auto end = text.find('\n');
        line_ += text.substr(0, end);
        if (end == std::string_view::npos) return;
        text.remove_prefix(end + 1);
        take_line(std::exchange(line_, {}));
    }
}

void PlanParser::finish() {
    if (ended_) return;
    std::string_view line = line_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    truncated_ = !line_.empty() && trimmed(line) != "END";
    ended_ = true;
}

void PlanParser::take_line(std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    line = trimmed(line);
    if (line.empty()) return;
    if (line == "END") {
        ended_ = true;
        return;
    }
    if (nodes_.size() == most_nodes) {
        ++dropped_nodes_;
        return;
    }
    const int index = static_cast<int>(nodes_.size()) + 1;
    auto node = node_of(line, index);
    if (!node) {
        ++repaired_;
        node = PlannedNode{.title = std::string(line), .dependencies = {}, .difficulty = {}};
        if (index > 1) node->dependencies.push_back(index - 1);
    }
    auto& dependencies = node->dependencies;
    dropped_dependencies_ += static_cast<int>(std::erase_if(
        dependencies, [&](int dependency) { return dependency < 1 || dependency >= index; }));
    std::sort(dependencies.begin(), dependencies.end());
    dependencies.erase(std::unique(dependencies.begin(), dependencies.end()), dependencies.end());
    nodes_.push_back(std::move(*node));
}

}  // namespace assay::plato
