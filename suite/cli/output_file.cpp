#include "suite/cli/output_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

#include "suite/experiment/error.hpp"

namespace assay::cli {

void write_output(const std::filesystem::path& file, std::string_view content) {
    if (file == "-") {
        std::cout << content;
        return;
    }
    std::error_code error;
    // A device or pipe (/dev/null, /dev/fd/3) is written to as it is.
    const bool special =
        std::filesystem::exists(file, error) && !std::filesystem::is_regular_file(file, error);
    if (file.has_parent_path() && std::filesystem::create_directories(file.parent_path(), error))
        std::cerr << fmt::format("made the folder {}\n", file.parent_path().string());
    std::filesystem::path part = file;
    if (!special) part += fmt::format(".{}.part", ::getpid());
    errno = 0;
    std::ofstream out(part, std::ios::binary | std::ios::trunc);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    out.close();
    if (out && !special) std::filesystem::rename(part, file, error);
    if (!out || error) {
        const std::string why = error ? error.message() : std::strerror(errno);
        if (!special) std::filesystem::remove(part, error);
        throw UserError(fmt::format("cannot write {}: {}", file.string(), why));
    }
}

void check_output(const std::string& option, const std::filesystem::path& file) {
    namespace fs = std::filesystem;
    if (file.empty() || file == "-") return;
    const auto refuse = [&](const std::string& why) {
        throw UserError(fmt::format("{} {}: {}", option, file.string(), why));
    };
    std::error_code error;
    if (fs::is_directory(file, error)) refuse("that is a folder; give a file in it");
    if (!file.has_filename()) refuse("give the name of a file");
    if (fs::exists(file, error) && !fs::is_regular_file(file, error)) {
        if (::access(file.c_str(), W_OK) != 0) refuse(std::strerror(errno));
        return;
    }
    // The part that is there already; the rest is made.
    fs::path folder = fs::absolute(file).parent_path();
    while (!fs::exists(folder, error) && folder != folder.parent_path())
        folder = folder.parent_path();
    if (!fs::is_directory(folder, error))
        refuse(fmt::format("{} is a file, not a folder", folder.string()));
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
        refuse(fmt::format("nothing can be written into {}: {}", folder.string(),
                           std::strerror(errno)));
}

}  // namespace assay::cli
