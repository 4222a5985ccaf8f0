// Reads datasets/catalog.toml, strictly: a silently ignored hash would be worse than none. And
// where fetched data lies.
#include "suite/data/catalog.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <utility>

#include "suite/base/datasets.hpp"
#include "suite/base/error.hpp"
#include "suite/base/strict_toml.hpp"

namespace assay::data {

namespace {

std::vector<Entry> read_catalog() {
    const auto file = datasets_dir() / "catalog.toml";
    std::ifstream in(file, std::ios::binary);
    if (!in) throw DataError(fmt::format("{} cannot be read", file.string()));
    const std::string text(std::istreambuf_iterator<char>(in), {});
    return parse_catalog(text, file.string());
}

}  // namespace

std::string fetch_command(const Entry& entry) {
    if (entry.debian) return "assay data fetch " + entry.id;
    return fmt::format("assay data fetch {} --from {}", entry.id, entry.folder ? "FOLDER" : "FILE");
}

const std::vector<Entry>& catalog() {
    static const std::vector<Entry> entries = read_catalog();
    return entries;
}

const Entry& find(std::string_view id) {
    const auto& entries = catalog();
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [&](const Entry& entry) { return entry.id == id; });
    if (found != entries.end()) return *found;
    std::vector<std::string> ids;
    for (const Entry& entry : entries) ids.push_back(entry.id);
    const auto nearest = nearest_id(id, ids);
    throw DataError(fmt::format("no data set is called \"{}\"{} (`assay data list` shows all)", id,
                                nearest ? fmt::format(", did you mean \"{}\"?", *nearest) : ""));
}

// ---- the file -----------------------------------------------------------------------------------

namespace {

using Table = StrictTable<DataError>;

Kind read_kind(Table& in) {
    const std::string text = in.required_text("kind");
    if (const auto kind = of_word<Kind>(text)) return *kind;
    in.fail("kind", fmt::format("is \"{}\"; known are {}", text, words_of<Kind>()));
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

FolderSource folder_source(Table in) {
    FolderSource source{.converter = in.required_text("converter"),
                        .called = in.required_text("called")};
    using Limits = std::numeric_limits<std::int64_t>;
    for (const std::string& key : in.rest())
        source.numbers.emplace(key, *in.integer(key, Limits::min(), Limits::max()));
    return source;
}

Entry read_entry(Table& in) {
    Entry entry{.id = in.required_text("id"),
                .kind = read_kind(in),
                .says = in.required_text("says"),
                .licence = in.required_text("licence"),
                .origin = in.required_text("origin"),
                .obtain = in.text("obtain").value_or(""),
                .serves = in.text("serves").value_or(""),
                .file = in.required_text("file"),
                .format = in.required_text("format"),
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
    if (const auto folder = in.table("folder")) {
        if (entry.debian) in.fail("folder", "belongs to data that the user brings");
        entry.folder = folder_source(*folder);
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

// ---- where fetched data lies --------------------------------------------------------------------

namespace {

/// An environment variable, where it is set and not empty.
std::optional<std::filesystem::path> variable(const char* name) {
    const char* value = std::getenv(name);
    if (!value || !*value) return std::nullopt;
    return std::filesystem::path(value);
}

std::filesystem::path home() {
    if (const auto home = variable("HOME")) return *home;
    if (const passwd* user = getpwuid(getuid()); user && user->pw_dir && *user->pw_dir)
        return user->pw_dir;
    throw DataError("no home folder: set ASSAY_DATA to the folder where data sets are to lie");
}

}  // namespace

std::filesystem::path folder() {
    if (const auto given = variable("ASSAY_DATA")) return *given;
    // The XDG specification has relative paths ignored.
    if (const auto xdg = variable("XDG_DATA_HOME"); xdg && xdg->is_absolute())
        return *xdg / "assay" / "data";
    return home() / ".local" / "share" / "assay" / "data";
}

std::optional<std::filesystem::path> locate(std::string_view id) {
    auto file = folder() / find(id).file;
    std::error_code ignored;  // an unreadable folder holds nothing for us
    if (!std::filesystem::is_regular_file(file, ignored)) return std::nullopt;
    return file;
}

std::optional<Input> input_of(std::string_view id, std::string name) {
    auto file = locate(id);
    if (!file) return std::nullopt;
    return Input{std::move(name), *std::move(file), find(id).sha256.value_or("")};
}

}  // namespace assay::data
