// Files and folders that appear whole under their name, and are still there after a power cut.
#pragma once

#include <filesystem>

namespace assay {

/// Gives `aside`, a finished file or a folder of finished files, the name `name` in the same folder
/// or file system. Its content is on the device before the name appears, and the name before this
/// returns. A file of that name is replaced, a folder that is not empty is not. Throws
/// std::filesystem::filesystem_error.
void publish(const std::filesystem::path& aside, const std::filesystem::path& name);

}  // namespace assay
