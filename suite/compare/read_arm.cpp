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
#include "suite/store/store.hpp"

namespace assay::compare {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view start_of_database = "SQLite format 3";

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

/// A file is read once from its beginning, for it may be a pipe.
Arm arm_of_file(const Registry& registry, const std::string& file) {
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
    if (lower(file).ends_with(".jsonl") || text.starts_with("{\"format\":\"assay-results\""))
        throw UserError(
            fmt::format("{} holds exported sessions; bring them into a database first: {}", file,
                        suggested("import " + shell_quoted(file))));
    return read_google_benchmark(text, file);
}

using OpenDatabase = std::function<std::shared_ptr<const store::Store>()>;

Side side_of(const Registry& registry, const OpenDatabase& database, const std::string& typed) {
    if (typed.empty()) throw UserError("an empty word names nothing to compare");
    std::error_code ignored;
    if (names_file(typed) && fs::exists(typed, ignored)) {
        if (fs::is_directory(typed, ignored))
            throw UserError(fmt::format("{} is a folder; name a file in it", typed));
        return arm_of_file(registry, typed);
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
             const std::string& typed_b) {
    Side a = side_of(registry, database, typed_a), b = side_of(registry, database, typed_b);
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
    return arm_of(registry, side_of(registry, opens(database), typed));
}

Arm read_arm(const Registry& registry, const store::Store& database, const std::string& typed) {
    return arm_of(registry, side_of(registry, is_open(database), typed));
}

Arms read_arms(const Registry& registry, const fs::path& database, const std::string& a,
               const std::string& b) {
    return arms_of(registry, opens(database), a, b);
}

Arms read_arms(const Registry& registry, const store::Store& database, const std::string& a,
               const std::string& b) {
    return arms_of(registry, is_open(database), a, b);
}

}  // namespace assay::compare
