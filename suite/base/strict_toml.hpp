// Reads a TOML table key by key; every complaint names file, line and column, and keys that nobody
// asked for are refused, so that a misspelt key cannot silently do nothing. For .cpp files only:
// toml++ is heavy.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace assay::detail {

/// Thrown where toml++ 3.3 meets text that its parser does not expect ("[[ = 1") and would assert.
struct UnexpectedToml {};

[[noreturn]] inline void unexpected_toml() { throw UnexpectedToml(); }

}  // namespace assay::detail

#ifdef NDEBUG
#error \
    "toml++ 3.3 takes its assertions for granted with NDEBUG; broken files would be undefined behaviour"
#endif
#define TOML_ASSERT(expression) \
    (static_cast<bool>(expression) ? void() : ::assay::detail::unexpected_toml())
#include <toml++/toml.h>

namespace assay {

/// Parses a document; throws Error("file:line:column: …").
template <class Error>
toml::table parse_toml(std::string_view text, std::string_view file_name) {
    try {
        return toml::parse(text, file_name);
    } catch (const toml::parse_error& error) {
        throw Error(std::string(file_name) + ':' + std::to_string(error.source().begin.line) + ':' +
                    std::to_string(error.source().begin.column) +
                    ": not valid TOML: " + std::string(error.description()));
    } catch (const detail::UnexpectedToml&) {
        throw Error(std::string(file_name) +
                    ": not valid TOML: a table header or key that cannot be read");
    }
}

/// One table that is being read. `Error` is the component's exception type.
template <class Error>
class StrictTable {
  public:
    /// `name` is how messages call the table: "[[claim]]", "check".
    /// `within`: where a table stands that was put together and has no place of its own.
    StrictTable(const toml::table& table, std::string file, std::string name,
                const toml::source_region& within = {})
        : table_(table),
          source_(table.source().begin ? table.source() : within),
          file_(std::move(file)),
          name_(std::move(name)) {}

    [[noreturn]] void fail(const toml::source_region& where, const std::string& message) const {
        throw Error(place(where) + ": " + message);
    }
    /// Complains about the table as a whole.
    [[noreturn]] void fail(const std::string& message) const { fail(source_, message); }
    /// Complains about one key of it.
    [[noreturn]] void fail(std::string_view key, const std::string& message) const {
        const toml::node* node = table_.get(key);
        fail(node && node->source().begin ? node->source() : source_,
             name_ + ": '" + std::string(key) + "' " + message);
    }

    std::optional<std::string> text(std::string_view key) {
        const toml::node* node = find(key);
        if (!node) return std::nullopt;
        if (!node->is_string()) fail(key, "must be a string");
        return node->as_string()->get();
    }

    std::string required_text(std::string_view key) {
        std::optional<std::string> value = text(key);
        if (!value) fail(name_ + " lacks '" + std::string(key) + "'");
        if (value->empty()) fail(key, "must not be empty");
        return *value;
    }

    /// A finite number, whole or not.
    std::optional<double> number(std::string_view key) {
        const toml::node* node = find(key);
        if (!node) return std::nullopt;
        return finite(key, *node);
    }

    std::optional<std::int64_t> integer(std::string_view key, std::int64_t least,
                                        std::int64_t most) {
        const toml::node* node = find(key);
        if (!node) return std::nullopt;
        const auto* whole = node->as_integer();
        if (!whole || whole->get() < least || whole->get() > most)
            fail(key, "must be a whole number from " + std::to_string(least) + " to " +
                          std::to_string(most));
        return whole->get();
    }

    std::vector<std::string> texts(std::string_view key) {
        std::vector<std::string> values;
        for_each_in_array(key, [&](const toml::node& node) {
            if (!node.is_string()) fail(key, "must be an array of strings");
            values.push_back(node.as_string()->get());
        });
        return values;
    }

    std::vector<double> numbers(std::string_view key) {
        std::vector<double> values;
        for_each_in_array(key,
                          [&](const toml::node& node) { values.push_back(finite(key, node)); });
        return values;
    }

    std::optional<StrictTable> table(std::string_view key) {
        const toml::node* node = find(key);
        if (!node) return std::nullopt;
        if (!node->is_table()) fail(key, "must be a table, { key = value }");
        return StrictTable(*node->as_table(), file_, std::string(key), source_);
    }

    /// The tables of an array written [[key]].
    std::vector<StrictTable> tables(std::string_view key) {
        std::vector<StrictTable> found;
        for_each_in_array(key, [&](const toml::node& node) {
            if (!node.is_table()) fail(key, "must be tables headed [[" + std::string(key) + "]]");
            found.emplace_back(*node.as_table(), file_, "[[" + std::string(key) + "]]");
        });
        return found;
    }

    /// Every key of the table not read so far, in alphabetical order.
    std::vector<std::string> rest() const {
        std::vector<std::string> keys;
        for (const auto& [key, node] : table_)
            if (!read_.count(std::string(key.str()))) keys.emplace_back(key.str());
        return keys;
    }

    /// Call last: refuses keys that were not read.
    void refuse_rest() const {
        const std::vector<std::string> unknown = rest();
        if (unknown.empty()) return;
        std::string known;
        for (const std::string& key : read_) known += (known.empty() ? "" : ", ") + key;
        fail(unknown.front(), "is not a known key; known are: " + known);
    }

    const std::string& name() const { return name_; }
    std::string where() const { return place(source_); }  ///< "file:line:column"

    /// The node under a key of any type; marks it as read.
    const toml::node* find(std::string_view key) {
        read_.insert(std::string(key));
        return table_.get(key);
    }

  private:
    std::string place(const toml::source_region& where) const {
        return file_ + ':' + std::to_string(where.begin.line) + ':' +
               std::to_string(where.begin.column);
    }

    double finite(std::string_view key, const toml::node& node) const {
        double value = std::numeric_limits<double>::quiet_NaN();
        if (const auto* whole = node.as_integer()) value = static_cast<double>(whole->get());
        if (const auto* real = node.as_floating_point()) value = real->get();
        if (!std::isfinite(value)) fail(key, "must be a finite number");
        return value;
    }

    void for_each_in_array(std::string_view key,
                           const std::function<void(const toml::node&)>& use) {
        const toml::node* node = find(key);
        if (!node) return;
        if (!node->is_array()) fail(key, "must be an array");
        for (const toml::node& element : *node->as_array()) use(element);
    }

    const toml::table& table_;
    toml::source_region source_;
    std::string file_;
    std::string name_;
    std::set<std::string> read_;
};

}  // namespace assay
