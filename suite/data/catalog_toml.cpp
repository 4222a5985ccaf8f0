// Reads datasets/catalog.toml. Strict: a silently ignored hash would be worse than none.
#include <fmt/format.h>

#include <initializer_list>
#include <limits>

#include "suite/data/catalog.hpp"
#include "suite/experiment/strict_toml.hpp"

namespace assay::data {

namespace {

using Table = StrictTable<DataError>;

template <typename Enum>
Enum one_of(Table& in, std::string_view key, std::initializer_list<Enum> choices) {
    const std::string text = in.required_text(key);
    std::string known;
    for (const Enum choice : choices) {
        if (to_string(choice) == text) return choice;
        known += (known.empty() ? "" : ", ") + std::string(to_string(choice));
    }
    in.fail(key, fmt::format("is \"{}\"; known are {}", text, known));
}

DebianSource debian_source(Table in) {
    DebianSource source{.package = in.required_text("package"),
                        .version = in.required_text("version"),
                        .command = in.texts("command")};
    if (source.command.empty() || source.command.front().empty())
        in.fail("command", "must list a program and its arguments");
    if (const toml::node* verses = in.find("verses")) {
        if (!verses->is_boolean()) in.fail("verses", "must be true or false");
        source.verses = verses->as_boolean()->get();
    }
    in.refuse_rest();
    return source;
}

SmartmoeLogs smartmoe_logs(Table in) {
    const auto number = [&](const char* key, std::int64_t least, std::int64_t most) {
        const auto value = in.integer(key, least, most);
        if (!value) in.fail(in.name() + " lacks '" + key + "'");
        return *value;
    };
    const auto size = [&](const char* key, std::int64_t most) {
        return static_cast<std::size_t>(number(key, 1, most));
    };
    constexpr std::int64_t most_iterations = 10'000'000;
    SmartmoeLogs logs{.first_iteration = number("first_iteration", 0, most_iterations),
                      .last_iteration = number("last_iteration", 0, most_iterations),
                      .iteration_step = number("iteration_step", 1, most_iterations),
                      .ranks = size("ranks", 4096),
                      .layers = size("layers", 4096),
                      .micro_batches = size("micro_batches", 4096),
                      .experts = size("experts", 4096),
                      .tokens = size("tokens", std::int64_t{1} << 32)};
    if (logs.last_iteration < logs.first_iteration)
        in.fail("last_iteration", "must not be before 'first_iteration'");
    if ((logs.last_iteration - logs.first_iteration) % logs.iteration_step != 0)
        in.fail("last_iteration", "must be a whole number of 'iteration_step' after the first");
    in.refuse_rest();
    return logs;
}

Entry read_entry(Table& in) {
    Entry entry{
        .id = in.required_text("id"),
        .kind = one_of(in, "kind", {Kind::corpus, Kind::trace, Kind::model}),
        .says = in.required_text("says"),
        .licence = in.required_text("licence"),
        .origin = in.required_text("origin"),
        .obtain = in.text("obtain").value_or(""),
        .serves = in.text("serves").value_or(""),
        .file = in.required_text("file"),
        .format = one_of(in, "format",
                         {Format::text, Format::expert_loads, Format::node_trace, Format::gguf}),
        .sha256 = in.text("sha256")};
    if (entry.file.find('/') != std::string::npos || entry.file.front() == '.')
        in.fail("file", "must be a plain file name");
    if (entry.sha256 && (entry.sha256->size() != 64 ||
                         entry.sha256->find_first_not_of("0123456789abcdef") != std::string::npos))
        in.fail("sha256", "must be 64 lower-case hex digits");
    if (const auto size = in.integer("size_bytes", 1, std::numeric_limits<std::int64_t>::max()))
        entry.size_bytes = static_cast<std::uint64_t>(*size);
    if (const auto debian = in.table("debian")) entry.debian = debian_source(*debian);
    if (entry.debian.has_value() != entry.obtain.empty())
        in.fail("exactly one of 'debian' and 'obtain' must say where the data is from");
    if (const auto logs = in.table("smartmoe_logs")) {
        if (entry.debian || entry.format != Format::expert_loads)
            in.fail("smartmoe_logs", "belongs to data of format expert_loads that the user brings");
        entry.smartmoe_logs = smartmoe_logs(*logs);
    }
    in.refuse_rest();
    return entry;
}

}  // namespace

std::vector<Entry> parse_catalog(std::string_view text, std::string_view source) {
    const toml::table document = parse_toml<DataError>(text, source);
    Table root(document, std::string(source), "the catalogue");
    std::vector<Entry> entries;
    for (Table& table : root.tables("entry")) {
        const Entry entry = read_entry(table);
        for (const Entry& before : entries) {
            if (before.id == entry.id) table.fail("id", "is that of an entry before it");
            if (before.file == entry.file) table.fail("file", "is that of an entry before it");
        }
        entries.push_back(entry);
    }
    root.refuse_rest();
    if (entries.empty()) root.fail("no [[entry]] in it");
    return entries;
}

}  // namespace assay::data
