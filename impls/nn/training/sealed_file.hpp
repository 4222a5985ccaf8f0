// A file whose last bytes tell whether it is whole: content, then its length and digest.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>

namespace assay::nn {

/// Writes the file through an AsideFile. Throws std::system_error (for instance a full disk).
void write_sealed(const std::filesystem::path& file,
                  const std::function<void(std::ostream&)>& write);

/// Calls `read` with the content. false, without a call: no such file, or it is torn or altered.
bool read_sealed(const std::filesystem::path& file, const std::function<void(std::istream&)>& read);

}  // namespace assay::nn
