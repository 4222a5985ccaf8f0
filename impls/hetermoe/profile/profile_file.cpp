#include "impls/hetermoe/profile/profile_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "suite/base/strict_toml.hpp"

namespace assay::hetermoe {
namespace {

using Table = StrictTable<ProfileFileError>;

int count(Table& table, const char* key) {
    const auto value = table.integer(key, 1, most_of_a_count);
    if (!value) table.fail(fmt::format("{} lacks '{}'", table.name(), key));
    return static_cast<int>(*value);
}

enum class Zero { allowed, refused };

std::optional<Nanoseconds> time(Table& table, const char* key, Zero zero) {
    const std::optional<double> seconds = table.number(key);
    if (!seconds) return std::nullopt;
    if (std::signbit(*seconds)) table.fail(key, "must not be negative");
    if (*seconds > longest_s) table.fail(key, fmt::format("must be at most {} s", longest_s));
    const Nanoseconds rounded = std::llround(*seconds * 1e9L);
    if (rounded == 0 && zero == Zero::refused)
        table.fail(key, "must be at least a nanosecond, 1e-9");
    return rounded;
}

Nanoseconds required_time(Table& table, const char* key, Zero zero = Zero::refused) {
    const auto found = time(table, key, zero);
    if (!found) table.fail(fmt::format("{} lacks '{}', in seconds", table.name(), key));
    return *found;
}

Nanoseconds time_or_0(Table& table, const char* key) {
    return time(table, key, Zero::allowed).value_or(0);
}

Table required_table(Table& outer, const char* key) {
    std::optional<Table> table = outer.table(key);
    if (!table) outer.fail(fmt::format("{} lacks the table [{}]", outer.name(), key));
    return *table;
}

GpuKind gpu_kind(Table table) {
    GpuKind kind;
    kind.gpus = count(table, "gpus");
    kind.attention = time(table, "attention_s", Zero::refused);
    kind.expert = required_time(table, "expert_s");
    kind.head = time_or_0(table, "head_s");
    kind.capacity = table.integer("capacity", 0, std::numeric_limits<std::int64_t>::max());
    table.refuse_rest();
    return kind;
}

std::vector<int> micro_batches(Table& table) {
    const toml::node* node = table.find("micro_batches");
    if (!node) table.fail(table.name() + " lacks 'micro_batches', as [2, 4]");
    const toml::array* array = node->as_array();
    if (!array || array->empty()) table.fail("micro_batches", "must be an array, as [2, 4]");
    std::vector<int> values;
    for (const toml::node& element : *array) {
        const auto* whole = element.as_integer();
        if (!whole || whole->get() < 1 || whole->get() > most_of_a_count)
            table.fail("micro_batches",
                       fmt::format("must be whole numbers from 1 to {}", most_of_a_count));
        values.push_back(static_cast<int>(whole->get()));
    }
    std::sort(values.begin(), values.end());
    const auto twice = std::adjacent_find(values.begin(), values.end());
    if (twice != values.end())
        table.fail("micro_batches", fmt::format("has {} twice; give each once", *twice));
    return values;
}

std::string seconds_text(Nanoseconds time) {
    return fmt::format("{}.{:09}", time / 1'000'000'000, time % 1'000'000'000);
}

std::string kind_toml(const char* name, const GpuKind& kind) {
    std::string text = fmt::format("\n[{}]\ngpus = {}\n", name, kind.gpus);
    if (kind.attention) text += fmt::format("attention_s = {}\n", seconds_text(*kind.attention));
    text += fmt::format("expert_s = {}\n", seconds_text(kind.expert));
    if (kind.head > 0) text += fmt::format("head_s = {}\n", seconds_text(kind.head));
    if (kind.capacity) text += fmt::format("capacity = {}\n", *kind.capacity);
    return text;
}

}  // namespace

TrainingProfile read_profile(std::string_view toml, std::string_view file_name) {
    const toml::table document = parse_toml<ProfileFileError>(toml, file_name);
    Table table(document, std::string(file_name), "the profile");
    TrainingProfile profile;
    profile.layers = count(table, "layers");
    profile.experts = count(table, "experts");
    profile.micro_batches = micro_batches(table);
    Table fresh = required_table(table, "new");
    profile.new_kind = gpu_kind(fresh);
    if (!profile.new_kind.attention) fresh.fail("new lacks 'attention_s', in seconds");
    profile.old_kind = gpu_kind(required_table(table, "old"));
    Table exchange = required_table(table, "exchange");
    profile.exchange = required_time(exchange, "seconds", Zero::allowed);
    if (const auto exposed = exchange.number("ep_exposed")) {
        if (std::signbit(*exposed)) exchange.fail("ep_exposed", "must not be negative");
        try {
            profile.ep_exposed = decimal_fraction(*exposed);
        } catch (const TooLargeToStayExact&) {
            exchange.fail("ep_exposed", "must have fewer digits");
        }
    }
    exchange.refuse_rest();
    if (std::optional<Table> sync = table.table("sync")) {
        profile.dense_sync = time_or_0(*sync, "dense_s");
        profile.expert_sync = time_or_0(*sync, "expert_s");
        sync->refuse_rest();
    }
    table.refuse_rest();
    return profile;
}

std::string to_toml(const TrainingProfile& profile) {
    std::string text =
        fmt::format("layers = {}\nexperts = {}\nmicro_batches = [{}]\n", profile.layers,
                    profile.experts, fmt::join(profile.micro_batches, ", "));
    text += kind_toml("new", profile.new_kind) + kind_toml("old", profile.old_kind);
    text += fmt::format("\n[exchange]\nseconds = {}\nep_exposed = {}\n",
                        seconds_text(profile.exchange), profile.ep_exposed.value());
    text += fmt::format("\n[sync]\ndense_s = {}\nexpert_s = {}\n", seconds_text(profile.dense_sync),
                        seconds_text(profile.expert_sync));
    return text;
}

}  // namespace assay::hetermoe
