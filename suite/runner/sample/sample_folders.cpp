#include "suite/runner/sample/sample_folders.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <map>
#include <string>
#include <system_error>

#include "suite/base/error.hpp"
#include "suite/base/sha256.hpp"
#include "suite/runner/plan.hpp"
#include "suite/store/ids.hpp"
#include "suite/store/store.hpp"

namespace assay::runner {
namespace {

constexpr std::string_view prefix = "assay-sample-";

}  // namespace

ScratchFolder::ScratchFolder() {
    std::string name =
        (std::filesystem::temp_directory_path() / fmt::format("{}{}-XXXXXX", prefix, ::getpid()))
            .string();
    if (::mkdtemp(name.data()) == nullptr)
        throw UserError(
            fmt::format("cannot make a folder for temporary files, {}: {}; set TMPDIR "
                        "to a folder that can be written",
                        name, std::strerror(errno)));
    path_ = name;
}

ScratchFolder::~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

int ScratchFolder::remove_abandoned() {
    int removed = 0;
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::temp_directory_path(), error)) {
        const std::string name = entry.path().filename().string();
        if (name.rfind(prefix, 0) != 0) continue;
        pid_t pid = 0;
        const char* begin = name.data() + prefix.size();
        const auto [end, code] = std::from_chars(begin, name.data() + name.size(), pid);
        if (code != std::errc{} || *end != '-' || pid <= 0) continue;
        struct stat status {};
        // Only our own, and only a real folder: the place is writable by everybody.
        if (::lstat(entry.path().c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
            status.st_uid != ::getuid())
            continue;
        if (::kill(pid, 0) == 0 || errno != ESRCH) continue;
        std::error_code ignored;
        if (std::filesystem::remove_all(entry.path(), ignored) > 0) ++removed;
    }
    return removed;
}

namespace {

namespace fs = std::filesystem;

fs::path all_sessions(const fs::path& database) { return fs::absolute(database).concat(".state"); }

/// Files that cannot be removed cost space, never a result.
void clear(const fs::path& folder) {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
}

double bytes_in(const fs::path& folder) {
    double bytes = 0;
    std::error_code error;
    for (fs::recursive_directory_iterator next(folder, error), end; !error && next != end;
         next.increment(error)) {
        std::error_code no_file;
        if (const auto size = next->file_size(no_file); !no_file)
            bytes += static_cast<double>(size);
    }
    return bytes;
}

/// Why nobody will take up again what a session kept; empty: somebody may. `oldest`: when one may
/// have been interrupted that still may go on.
std::string abandonment(const store::Session& session, const std::string& oldest) {
    if (session.state == "finished") return "it is finished";
    if (session.state != "interrupted" || std::max(session.started, session.finished) >= oldest)
        return {};
    return fmt::format("it was interrupted more than {} days ago", StateFolder::kept_days);
}

}  // namespace

StateFolder::StateFolder(const fs::path& database, const std::string& session)
    : session_(all_sessions(database) / session) {}

fs::path StateFolder::folder_of(const SampleSpec& spec) const {
    return session_ / sha256_hex(identity(spec));
}

void StateFolder::assign(SampleSpec& spec) const {
    spec.state = folder_of(spec).string();
    spec.shared = (session_ / "shared").string();
}

void StateFolder::sample_finished(const SampleSpec& spec) const { clear(folder_of(spec)); }

void StateFolder::session_finished() const {
    clear(session_);
    std::error_code not_empty;
    fs::remove(session_.parent_path(), not_empty);
}

std::vector<StateFolder::Removed> StateFolder::remove_abandoned(const store::Store& store) {
    const fs::path root = all_sessions(store.path());
    std::error_code none;
    std::vector<fs::path> folders;
    for (fs::directory_iterator next(root, none), end; !none && next != end; next.increment(none))
        folders.push_back(next->path());
    if (folders.empty()) return {};
    const std::string oldest =
        store::utc(std::chrono::system_clock::now() - std::chrono::days(kept_days));
    // Read after the folders: a session that begins meanwhile has a row before it has a folder.
    std::map<std::string, std::string> why;
    for (const store::Session& session : store.sessions())
        why.emplace(session.id, abandonment(session, oldest));
    std::vector<Removed> removed;
    for (const fs::path& folder : folders) {
        const std::string session = folder.filename().string();
        const auto known = why.find(session);
        if (known != why.end() && known->second.empty()) continue;
        removed.push_back({session, bytes_in(folder),
                           known == why.end() ? "the database does not have it" : known->second});
        clear(folder);
    }
    fs::remove(root, none);
    return removed;
}

std::vector<StateFolder::Removed> StateFolder::remove_pruned(
    const fs::path& database, const std::vector<std::string>& sessions, bool dry_run) {
    std::vector<Removed> removed;
    for (const std::string& session : sessions) {
        const StateFolder folder(database, session);
        std::error_code missing;
        if (!fs::exists(folder.session_, missing)) continue;
        removed.push_back({session, bytes_in(folder.session_), "it was pruned"});
        if (!dry_run) folder.session_finished();
    }
    return removed;
}

}  // namespace assay::runner
