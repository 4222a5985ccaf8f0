#include "suite/compare/read_arm.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>

#include "suite/base/error.hpp"
#include "suite/compare/selector.hpp"
#include "suite/store/store.hpp"

namespace assay::compare {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& file) {
    errno = 0;
    std::ifstream in(file, std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(in), {});
    if (!in && !in.eof())
        throw UserError(fmt::format("cannot read {}: {}", file.string(),
                                    errno ? std::strerror(errno) : "an error while reading"));
    return text;
}

bool is_database(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::string start(15, '\0');
    in.read(start.data(), static_cast<std::streamsize>(start.size()));
    return in && start == "SQLite format 3";
}

bool is_called_database(const std::string& typed) {
    return typed.ends_with(".db") || typed.ends_with(".sqlite");
}

/// Looks like a file rather than a session: it has a slash or an ending of one.
bool names_file(const std::string& typed) {
    if (has_selector_kind(typed)) return false;  // "baseline:feature/x"
    return typed.find('/') != typed.npos || typed.ends_with(".json") || typed.ends_with(".jsonl") ||
           is_called_database(typed);
}

/// Of "FILE.db:SELECTOR" or "FILE.sqlite:SELECTOR": where the colon is; npos: not written so.
std::size_t colon_of_database(const std::string& typed) {
    if (has_selector_kind(typed)) return typed.npos;
    for (auto colon = typed.find(':'); colon != typed.npos; colon = typed.find(':', colon + 1))
        if (is_called_database(typed.substr(0, colon))) return colon;
    return typed.npos;
}

Arm of_selector(const Registry& registry, const store::Store& store, const std::string& selector,
                const std::string& prefix) {
    const Selection selection = select_sessions(store, selector, std::chrono::system_clock::now());
    std::vector<std::string> ids;
    for (const store::Session& session : selection.sessions) ids.push_back(session.id);
    Arm arm = arm_of_sessions(registry, store, ids);
    arm.says = prefix + selection.says;
    const auto commit = arm.suspects.find("commit");
    if (selector.starts_with("commit:") && commit != arm.suspects.end())
        arm.says += " (commit " + commit->second + ")";
    else if (selector.find_first_of(":~") != selector.npos || selector == "latest")
        arm.says += " (" + selector + ")";
    return arm;
}

/// Of the file that `typed` names; nullopt: it names sessions of the database.
std::optional<Arm> of_file(const Registry& registry, const std::string& typed) {
    if (typed.empty()) throw UserError("an empty word names nothing to compare");
    std::error_code ignored;
    if (names_file(typed) && fs::exists(typed, ignored)) {
        if (fs::is_directory(typed, ignored))
            throw UserError(fmt::format("{} is a folder; name a file in it", typed));
        if (typed.ends_with(".jsonl"))
            throw UserError(fmt::format(
                "{} holds exported sessions; bring them into a database first: assay import {}",
                typed, typed));
        if (!is_called_database(typed) && !is_database(typed))
            return read_google_benchmark(content(typed), typed);
        return arm_of_store(registry, store::Store::open(typed, store::Access::read));
    }
    if (const auto colon = colon_of_database(typed); colon != typed.npos) {
        const std::string file = typed.substr(0, colon);
        return of_selector(registry, store::Store::open(file, store::Access::read),
                           typed.substr(colon + 1), file + ", ");
    }
    if (names_file(typed)) throw UserError(fmt::format("there is no file {}", typed));
    return std::nullopt;
}

}  // namespace

Arm read_arm(const Registry& registry, const fs::path& database, const std::string& typed) {
    if (auto arm = of_file(registry, typed)) return *std::move(arm);
    return of_selector(registry, store::Store::open(database, store::Access::read), typed, "");
}

Arm read_arm(const Registry& registry, const store::Store& database, const std::string& typed) {
    if (auto arm = of_file(registry, typed)) return *std::move(arm);
    return of_selector(registry, database, typed, "");
}

}  // namespace assay::compare
