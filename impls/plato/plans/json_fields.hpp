// Objects of known keys in files of JSON lines.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "suite/base/error.hpp"

namespace assay::plato {

/// `where` begins its messages. Keeps the reference.
class JsonFields {
  public:
    JsonFields(const nlohmann::json& object, std::string where,
               std::initializer_list<std::string_view> keys)
        : object_(object), where_(std::move(where)) {
        if (!object.is_object()) fail("give an object, {\"…\": …}");
        for (const auto& [key, value] : object.items())
            if (std::find(keys.begin(), keys.end(), key) == keys.end())
                fail(fmt::format("unknown key \"{}\"; known are {}", key, fmt::join(keys, ", ")));
    }

    const nlohmann::json& at(const char* key) const {
        const auto found = object_.find(key);
        if (found == object_.end()) fail(fmt::format("\"{}\" is missing", key));
        return *found;
    }
    bool has(const char* key) const { return object_.contains(key); }

    std::int64_t count(const char* key, std::int64_t least, std::int64_t most) const {
        const nlohmann::json& value = at(key);
        const bool whole = value.is_number_integer() || value.is_number_unsigned();
        // Beyond int64 a number is held as unsigned: compared as such it is too large.
        const bool fits =
            whole && (value.is_number_unsigned()
                          ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(most)
                          : value.get<std::int64_t>() <= most);
        if (!fits || value.get<std::int64_t>() < least)
            fail(fmt::format("\"{}\" is {}; give a whole number from {} to {}", key, shown(value),
                             least, most));
        return value.get<std::int64_t>();
    }
    std::string text(const char* key) const {
        if (!at(key).is_string()) fail(fmt::format("\"{}\" must be text", key));
        return at(key).get<std::string>();
    }
    /// Numbers of nodes before node `number`, ascending, each once.
    std::vector<int> dependencies(const char* key, int number) const {
        const nlohmann::json& given = at(key);
        if (!given.is_array()) fail(fmt::format("\"{}\" must be a list of numbers of nodes", key));
        std::vector<int> list;
        for (const nlohmann::json& dependency : given) {
            if (!dependency.is_number_integer() || dependency < 1 || dependency >= number)
                fail(fmt::format("\"{}\" has {}; a node depends on such before it, from 1 to {}",
                                 key, shown(dependency), number - 1));
            list.push_back(dependency.get<int>());
        }
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
        return list;
    }

    [[noreturn]] void fail(const std::string& what) const {
        throw UserError(fmt::format("{}: {}", where_, what));
    }

    /// Lists and objects by their kind: they may be nested deeper than can be printed.
    static std::string shown(const nlohmann::json& value) {
        if (value.is_structured()) return value.is_array() ? "a list" : "an object";
        const auto text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        return text.size() <= 40 ? text : text.substr(0, 37) + "…";
    }

  private:
    const nlohmann::json& object_;
    std::string where_;
};

}  // namespace assay::plato
