#include "suite/compare/read_arm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <set>
#include <variant>

#include "suite/base/encoding.hpp"
#include "suite/base/error.hpp"
#include "suite/base/suggested_command.hpp"
#include "suite/compare/selector.hpp"
#include "suite/import_export/tools/benchmark_file.hpp"
#include "suite/store/store.hpp"

namespace assay::compare {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view start_of_database = "SQLite format 3";

constexpr std::string_view separators = ",;\t";

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

bool is_called_database(const std::string& typed) {
    const std::string name = lower(typed);
    return name.ends_with(".db") || name.ends_with(".sqlite");
}

/// No session's id, and no selector but those with a kind ("baseline:feature/x"), has a slash or a
/// point.
bool names_file(const std::string& typed) {
    return !has_selector_kind(typed) && typed.find_first_of("/.") != typed.npos;
}

/// Of "FILE.db:SELECTOR" or "FILE.sqlite:SELECTOR": where the colon is; npos: not written so.
std::size_t colon_of_database(const std::string& typed) {
    if (has_selector_kind(typed)) return typed.npos;
    for (auto colon = typed.find(':'); colon != typed.npos; colon = typed.find(':', colon + 1))
        if (is_called_database(typed.substr(0, colon))) return colon;
    return typed.npos;
}

/// Sessions of a database that a selector named.
struct Named {
    std::shared_ptr<const store::Store> store;
    std::string file;  ///< "other.db, " where it was typed
    std::string selector;
    Selection selection;
};

/// A side of a comparison: a whole file, or sessions, which the other may name, too.
using Side = std::variant<Arm, Named>;

Named named(std::shared_ptr<const store::Store> store, const std::string& selector,
            const std::string& file) {
    Selection selection = select_sessions(*store, selector, std::chrono::system_clock::now());
    return {std::move(store), file, selector, std::move(selection)};
}

Arm arm_of(const Registry& registry, Side side) {
    if (Arm* arm = std::get_if<Arm>(&side)) return std::move(*arm);
    const Named& named = std::get<Named>(side);
    std::vector<std::string> ids;
    for (const store::Session& session : named.selection.sessions) ids.push_back(session.id);
    Arm arm = arm_of_sessions(registry, *named.store, ids);
    arm.says = named.file + named.selection.says;
    const auto commit = arm.suspects.find("commit");
    if (named.selector.starts_with("commit:") && commit != arm.suspects.end())
        arm.says += " (commit " + commit->second + ")";
    else if (named.selector.find_first_of(":~") != named.selector.npos ||
             named.selector == "latest")
        arm.says += " (" + named.selector + ")";
    return arm;
}

/// Whether the first two lines have equally many of a separator, or the name says so.
bool is_table(std::string_view text, const std::string& file) {
    if (lower(file).ends_with(".csv") || lower(file).ends_with(".tsv")) return true;
    const auto end = text.find('\n');
    if (end == text.npos) return false;
    const std::string_view first = text.substr(0, end), rest = text.substr(end + 1),
                           second = rest.substr(0, rest.find('\n'));
    return std::any_of(separators.begin(), separators.end(), [&](char separator) {
        const auto columns = std::count(first.begin(), first.end(), separator);
        return columns > 0 && std::count(second.begin(), second.end(), separator) == columns;
    });
}

/// What only a database can hold, and what holds no results at all: called what it is.
void refuse_what_is_imported(const std::string& text, const std::string& file) {
    const auto refuse = [&](const std::string& what) {
        throw UserError(fmt::format("{} {}", file, what));
    };
    const std::string import =
        "bring it into a database first: " + suggested("import " + shell_quoted(file));
    if (text.find_first_not_of(" \t\r\n") == text.npos) refuse("is empty");
    if (text.substr(0, text.find('\n')).find("\"assay-results\"") != text.npos)
        refuse("holds exported sessions; " + import);
    if (looks_like_benchmark_file(text)) return;
    if (text.find('\0') != text.npos) refuse("is neither text nor a database of results");
    if (is_table(text, file)) refuse("is a table (CSV); " + import);
}

/// A file is read once from its beginning, for it may be a pipe.
Arm arm_of_file(const Registry& registry, const std::string& file, std::string_view from) {
    errno = 0;
    std::ifstream in(file, std::ios::binary);
    std::string text(start_of_database.size(), '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    if (text == start_of_database || (is_called_database(file) && fs::is_regular_file(file)))
        return arm_of_store(registry, store::Store::open(file, store::Access::read));
    if (in) text.append(std::istreambuf_iterator<char>(in), {});
    if (in.bad() || !in.is_open())
        throw UserError(fmt::format("cannot read {}: {}", file,
                                    errno ? std::strerror(errno) : "an error while reading"));
    if (from.empty()) refuse_what_is_imported(text, file);
    return arm_of_benchmarks(read_benchmark_file(text, file, from), file);
}

using OpenDatabase = std::function<std::shared_ptr<const store::Store>()>;

Side side_of(const Registry& registry, const OpenDatabase& database, const std::string& typed,
             std::string_view from) {
    if (typed.empty()) throw UserError("an empty word names nothing to compare");
    std::error_code ignored;
    if (names_file(typed) && fs::exists(typed, ignored)) {
        if (fs::is_directory(typed, ignored))
            return arm_of_benchmarks(read_benchmark_folder(typed, from), typed);
        return arm_of_file(registry, typed, from);
    }
    if (const auto colon = colon_of_database(typed); colon != typed.npos) {
        const std::string file = typed.substr(0, colon);
        return named(
            std::make_shared<const store::Store>(store::Store::open(file, store::Access::read)),
            typed.substr(colon + 1), file + ", ");
    }
    if (names_file(typed)) throw UserError(fmt::format("there is no file {}", typed));
    return named(database(), typed, "");
}

/// Of both; then leaves it out of the side that has others besides, of A where both have.
std::string leave_out_shared(Named& a, Named& b) {
    std::set<std::string> in_a, in_b;
    for (const store::Session& session : a.selection.sessions) in_a.insert(session.id);
    for (const store::Session& session : b.selection.sessions) in_b.insert(session.id);
    if (in_a == in_b)
        return in_a.size() == 1 ? "A and B are the same session" : "A and B are the same sessions";
    std::set<std::string> shared;
    std::set_intersection(in_a.begin(), in_a.end(), in_b.begin(), in_b.end(),
                          std::inserter(shared, shared.end()));
    if (shared.empty()) return {};
    const bool from_a = shared.size() < in_a.size();
    Selection& wide = (from_a ? a : b).selection;
    std::erase_if(wide.sessions,
                  [&](const store::Session& session) { return shared.contains(session.id); });
    wide.says = says_of(wide.sessions);
    return fmt::format("{} session{} of both sides count{} in {} only", shared.size(),
                       shared.size() == 1 ? "" : "s", shared.size() == 1 ? "s" : "",
                       from_a ? "B" : "A");
}

bool is_same_file(const std::string& a, const std::string& b) {
    std::error_code ignored;
    return names_file(a) && names_file(b) && fs::is_regular_file(a, ignored) &&
           fs::equivalent(a, b, ignored);
}

Arms arms_of(const Registry& registry, const OpenDatabase& database, const std::string& typed_a,
             const std::string& typed_b, std::string_view from) {
    Side a = side_of(registry, database, typed_a, from),
         b = side_of(registry, database, typed_b, from);
    std::string note;
    if (is_same_file(typed_a, typed_b)) note = "A and B are the same file";
    if (std::holds_alternative<Named>(a) && std::holds_alternative<Named>(b))
        note = leave_out_shared(std::get<Named>(a), std::get<Named>(b));
    return {arm_of(registry, std::move(a)), arm_of(registry, std::move(b)), std::move(note)};
}

OpenDatabase opens(const fs::path& database) {
    return [&] {
        return std::make_shared<const store::Store>(
            store::Store::open(database, store::Access::read));
    };
}

/// Which whoever called goes on holding.
OpenDatabase is_open(const store::Store& database) {
    return [&] { return std::shared_ptr<const store::Store>(&database, [](const auto*) {}); };
}

}  // namespace

Arm read_arm(const Registry& registry, const fs::path& database, const std::string& typed) {
    return arm_of(registry, side_of(registry, opens(database), typed, {}));
}

Arm read_arm(const Registry& registry, const store::Store& database, const std::string& typed) {
    return arm_of(registry, side_of(registry, is_open(database), typed, {}));
}

Arms read_arms(const Registry& registry, const fs::path& database, const std::string& a,
               const std::string& b, std::string_view from) {
    return arms_of(registry, opens(database), a, b, from);
}

Arms read_arms(const Registry& registry, const store::Store& database, const std::string& a,
               const std::string& b, std::string_view from) {
    return arms_of(registry, is_open(database), a, b, from);
}

}  // namespace assay::compare
