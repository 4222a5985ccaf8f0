#include "suite/store/runner_process.hpp"

#include <fmt/format.h>

#include <fstream>
#include <string>
#include <system_error>

#include "suite/store/store_impl.hpp"

namespace assay::store {
namespace {

namespace fs = std::filesystem;

/// Whether a line of /proc/PID/fdinfo/FD says that the descriptor locks this byte: "lock:\t1:
/// OFDLCK ADVISORY  WRITE -1 00:2a:1234 4711 4711".
bool locks_byte(const std::string& line, std::int64_t byte) {
    if (!line.starts_with("lock:") || line.find(" WRITE ") == line.npos) return false;
    const std::string first = fmt::format(" {0} {0}", byte);
    return line.ends_with(first);
}

bool holds_lock(pid_t process, std::int64_t byte) {
    std::error_code error;
    const fs::path folder = fmt::format("/proc/{}/fdinfo", process);
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
        std::ifstream info(entry->path());
        for (std::string line; std::getline(info, line);)
            if (locks_byte(line, byte)) return true;
    }
    return false;
}

}  // namespace

std::optional<pid_t> runner_of(const fs::path& file, std::string_view session) {
    Database database = Database::open(file, Access::read);
    const SessionOwner owner = database.read("look for a session's runner", [&](SQLite::Database&) {
        return owner_of(database, session);
    });
    const auto process = static_cast<pid_t>(owner.pid);
    if (owner.state != "running" || owner.token <= 0 || process <= 0) return std::nullopt;
    // A copy of a database names the runner of the other one, which locks nothing beside the copy.
    if (!runner_lives(file, owner.token)) return std::nullopt;
    return holds_lock(process, owner.token) ? std::optional(process) : std::nullopt;
}

}  // namespace assay::store
