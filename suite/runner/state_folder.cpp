#include "suite/runner/state_folder.hpp"

#include <set>
#include <system_error>
#include <vector>

#include "suite/measure/build_info.hpp"
#include "suite/runner/plan_hash.hpp"
#include "suite/store/store.hpp"

namespace assay::runner {
namespace {

namespace fs = std::filesystem;

fs::path all_sessions(const fs::path& database) { return fs::absolute(database).concat(".state"); }

/// Files that cannot be removed cost space, never a result.
void clear(const fs::path& folder) {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
}

}  // namespace

StateFolder::StateFolder(const fs::path& database, const std::string& session)
    : session_(all_sessions(database) / session) {}

fs::path StateFolder::folder_of(const SampleSpec& spec) const {
    return session_ / text_hash(identity(spec));
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

void StateFolder::remove_abandoned(const store::Store& store) {
    const fs::path root = all_sessions(store.path());
    std::error_code none;
    std::vector<fs::path> folders;
    for (fs::directory_iterator next(root, none), end; !none && next != end; next.increment(none))
        folders.push_back(next->path());
    if (folders.empty()) return;
    // Read after the folders: a session that begins meanwhile has a row before it has a folder.
    std::set<std::string> going_on;
    for (const store::Session& session : store.sessions())
        if (session.state == "running" ||
            (session.state == "interrupted" && session.build == measure::build_id()))
            going_on.insert(session.id);
    for (const fs::path& folder : folders)
        if (!going_on.contains(folder.filename().string())) clear(folder);
    fs::remove(root, none);
}

}  // namespace assay::runner
