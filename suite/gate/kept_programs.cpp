#include "suite/gate/kept_programs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <system_error>

#include "suite/base/durable_file.hpp"
#include "suite/base/error.hpp"
#include "suite/base/sha256.hpp"
#include "suite/gate/benchmark_experiment.hpp"
#include "suite/measure/build_info.hpp"
#include "suite/store/ids.hpp"

namespace assay::gate {
namespace {

namespace fs = std::filesystem;

constexpr const char* program_name = "assay";

/// What is younger is not removed: another process may be making it this moment, or may have kept
/// it for a night that the database does not know of yet.
constexpr std::chrono::hours youngest_to_remove{24};

fs::path this_executable() { return fs::read_symlink("/proc/self/exe"); }

/// Files by the name under which they are kept.
using Files = std::map<std::string, fs::path>;

/// The program, plug-ins beside it, benchmark programs.
Files files_to_keep(const std::vector<fs::path>& benchmarks) {
    Files files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(this_executable().parent_path(), error))
        if (entry.is_regular_file(error) && entry.path().extension() == ".so")
            files[entry.path().filename().string()] = entry.path();
    for (const fs::path& benchmark : benchmarks)
        if (const fs::path file = find_benchmark_program(benchmark);
            fs::is_regular_file(file, error))
            files[kept_benchmark_name(benchmark)] = file;
    // Not by its name, under which a newer one may lie by now.
    files[program_name] = "/proc/self/exe";
    return files;
}

Files files_in(const fs::path& folder) {
    Files files;
    for (const auto& entry : fs::directory_iterator(folder))
        files[entry.path().filename().string()] = entry.path();
    return files;
}

/// The part of NAME that stands for the content. std::system_error: a file cannot be read.
std::string content_name(const Files& files) {
    std::string content;
    for (const auto& [name, file] : files)
        content += fmt::format("{} {}\n", name, sha256_file_hex(file));
    return sha256_hex(content).substr(0, 16);
}

}  // namespace

KeptPrograms::KeptPrograms(const fs::path& database)
    : folder_(fs::absolute(database).string() + ".builds") {}

std::string KeptPrograms::keep(const std::vector<fs::path>& benchmarks) const try {
    const Files files = files_to_keep(benchmarks);
    const std::string name = measure::build_id().substr(0, 12) + '-' + content_name(files);
    const fs::path kept = folder_ / name, made = folder_ / fmt::format("{}.{}", name, ::getpid());
    const auto is_whole = [&] {
        return !executable(name).empty() && damage(kept / program_name).empty();
    };
    if (is_whole()) {
        std::error_code read_only;  // then nobody removes it, either
        fs::last_write_time(kept, fs::file_time_type::clock::now(), read_only);
        return name;
    }
    damage_.erase(kept / program_name);
    try {
        fs::create_directories(made);
        for (const auto& [as, file] : files) fs::copy_file(file, made / as);
        fs::remove_all(kept);
        publish(made, kept);
    } catch (const fs::filesystem_error&) {
        std::error_code ignored;
        fs::remove_all(made, ignored);
        if (!is_whole()) throw;  // else another process was quicker
    }
    return name;
} catch (const std::system_error& error) {
    throw UserError(fmt::format("cannot keep this program in {}: {}", folder_.string(),
                                error.code().message()));
}

fs::path KeptPrograms::executable(const std::string& name) const {
    if (name.empty()) return {};
    std::error_code error;
    const fs::path file = folder_ / name / program_name;
    return fs::is_regular_file(file, error) ? file : fs::path();
}

const std::string& KeptPrograms::damage(const fs::path& executable) const {
    const auto [at, is_new] = damage_.try_emplace(executable);
    if (!is_new) return at->second;
    const fs::path folder = executable.parent_path();
    try {
        if (!folder.filename().string().ends_with('-' + content_name(files_in(folder))))
            at->second = fmt::format(
                "{} does not hold what was kept there: it was cut off or changed since, or an "
                "older version kept it",
                folder.string());
    } catch (const std::system_error& error) {
        at->second = fmt::format("{}: {}", folder.string(), error.what());
    }
    return at->second;
}

std::map<std::string, fs::file_time_type> KeptPrograms::kept() const {
    std::map<std::string, fs::file_time_type> all;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder_, error)) {
        std::error_code gone;
        const auto last = entry.last_write_time(gone);
        if (!gone && !executable(entry.path().filename().string()).empty())
            all.emplace(entry.path().filename().string(), last);
    }
    return all;
}

int KeptPrograms::keep_only(const std::set<std::string>& names) const {
    std::error_code error;
    std::vector<fs::path> rest;
    const auto oldest_to_stay = fs::file_time_type::clock::now() - youngest_to_remove;
    for (const auto& entry : fs::directory_iterator(folder_, error)) {
        std::error_code gone;
        const auto changed = entry.last_write_time(gone);
        if (!gone && changed < oldest_to_stay && !names.contains(entry.path().filename().string()))
            rest.push_back(entry.path());
    }
    int removed = 0;
    for (const fs::path& folder : rest)
        if (fs::remove_all(folder, error) > 0 && !error) ++removed;
    return removed;
}

std::string programs_text(const std::vector<fs::path>& benchmarks) try {
    std::map<std::string, std::string>
        given;  // as the suite calls it, by the name it is kept under
    for (const fs::path& benchmark : benchmarks)
        given[kept_benchmark_name(benchmark)] = benchmark.string();
    std::string text;
    for (const auto& [name, file] : files_to_keep(benchmarks))
        text += fmt::format("{}{} {:.12}", text.empty() ? "" : ", ",
                            given.contains(name) ? given.at(name) : name, sha256_file_hex(file));
    return text;
} catch (const std::system_error& error) {
    throw UserError(fmt::format("the programs of the suite cannot be read: {}", error.what()));
}

std::string programs_changed(const std::string& before, const std::string& after) {
    const auto parts = [](const std::string& text) {
        std::set<std::string> all;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = std::min(text.find(", ", at), text.size());
            all.insert(text.substr(at, end - at));
            at = end + 2;
        }
        return all;
    };
    const std::set<std::string> was = parts(before), is = parts(after);
    std::set<std::string> names;
    const auto add = [&](const std::set<std::string>& of, const std::set<std::string>& other) {
        for (const std::string& part : of)
            if (!other.contains(part)) names.insert(part.substr(0, part.rfind(' ')));
    };
    add(was, is);
    add(is, was);
    if (was.empty()) return "it is not known which programs it ran";
    return fmt::format("{} {} built anew or changed", fmt::join(names, ", "),
                       names.size() == 1 ? "was" : "were");
}

std::optional<std::string> lost_database(const fs::path& database, const std::string& made) {
    std::error_code error;
    const KeptPrograms programs(fs::weakly_canonical(fs::absolute(database), error));
    const auto kept = programs.kept();
    const bool empty = !fs::exists(database, error) || fs::file_size(database, error) == 0;
    const auto is_older = [&](const auto& program) {
        // A night that is given up before its first sample keeps its program all the same.
        const auto at = fs::file_time_type::clock::to_sys(program.second) + std::chrono::minutes(1);
        return store::utc(std::chrono::time_point_cast<std::chrono::system_clock::duration>(at)) <
               made;
    };
    if (kept.empty() || !(empty || std::any_of(kept.begin(), kept.end(), is_older)))
        return std::nullopt;
    return fmt::format(
        "{} {}, but earlier nights have kept their programs in {}: the database was lost, or "
        "another one is meant (--db, ASSAY_DB). Bring it back, or remove that folder to begin anew",
        database.string(), empty ? "is not there or empty" : "knows of no night",
        programs.folder().string());
}

}  // namespace assay::gate
