#include "suite/gate/kept_programs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "suite/experiment/error.hpp"
#include "suite/gate/benchmark_experiment.hpp"
#include "suite/measure/build_info.hpp"
#include "suite/store/sha256.hpp"

namespace assay::gate {
namespace {

namespace fs = std::filesystem;

constexpr const char* program_name = "assay";

fs::path this_executable() { return fs::read_symlink("/proc/self/exe"); }

/// What is kept with the program, by file name: plug-ins beside it, benchmark programs.
std::vector<fs::path> companions(const std::vector<fs::path>& benchmarks) {
    std::vector<fs::path> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(this_executable().parent_path(), error))
        if (entry.is_regular_file(error) && entry.path().extension() == ".so")
            files.push_back(entry.path());
    for (const fs::path& benchmark : benchmarks)
        if (const fs::path file = find_benchmark_program(benchmark);
            fs::is_regular_file(file, error))
            files.push_back(file);
    std::sort(files.begin(), files.end());
    files.erase(std::unique(files.begin(), files.end()), files.end());
    return files;
}

}  // namespace

KeptPrograms::KeptPrograms(const fs::path& database)
    : folder_(fs::absolute(database).string() + ".builds") {}

std::string KeptPrograms::keep(const std::vector<fs::path>& benchmarks) const {
    const std::vector<fs::path> files = companions(benchmarks);
    std::string content = measure::build_id();
    for (const fs::path& file : files)
        content += '\n' + file.filename().string() + ' ' + sha256_file_hex(file);
    const std::string name =
        measure::build_id().substr(0, 12) + '-' + sha256_hex(content).substr(0, 12);
    if (!executable(name).empty()) return name;
    const fs::path made = folder_ / fmt::format("{}.{}", name, ::getpid());
    try {
        fs::create_directories(made);
        fs::copy_file(this_executable(), made / program_name);
        for (const fs::path& file : files)
            fs::copy_file(file, made / file.filename(), fs::copy_options::overwrite_existing);
        // At once, so that a folder of that name is always whole.
        std::error_code taken;
        fs::rename(made, folder_ / name, taken);
        if (taken) fs::remove_all(made);
    } catch (const fs::filesystem_error& error) {
        std::error_code ignored;
        fs::remove_all(made, ignored);
        throw UserError(fmt::format("cannot keep this program in {}: {}", folder_.string(),
                                    error.code().message()));
    }
    return name;
}

fs::path KeptPrograms::executable(const std::string& name) const {
    if (name.empty()) return {};
    std::error_code error;
    const fs::path file = folder_ / name / program_name;
    return fs::is_regular_file(file, error) ? file : fs::path();
}

int KeptPrograms::keep_only(const std::set<std::string>& names) const {
    std::error_code error;
    std::vector<fs::path> rest;
    for (const auto& entry : fs::directory_iterator(folder_, error))
        if (!names.contains(entry.path().filename().string())) rest.push_back(entry.path());
    int removed = 0;
    for (const fs::path& folder : rest)
        if (fs::remove_all(folder, error) > 0 && !error) ++removed;
    return removed;
}

}  // namespace assay::gate
