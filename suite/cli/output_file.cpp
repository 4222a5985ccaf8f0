#include "suite/cli/output_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

#include "suite/experiment/error.hpp"
#include "suite/report/utf8.hpp"

namespace assay::cli {

void write_output(const std::filesystem::path& file, std::string_view content) {
    if (file == "-") {
        // A file keeps names as they are; a terminal would obey what some of them hold.
        if (::isatty(STDOUT_FILENO) != 0)
            std::cout << report::printable(content, "\n");
        else
            std::cout << content;
        return;
    }
    std::error_code error;
    // A device or pipe (/dev/null, /dev/fd/3) is written to as it is.
    const bool special =
        std::filesystem::exists(file, error) && !std::filesystem::is_regular_file(file, error);
    if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), error);
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

}  // namespace assay::cli
