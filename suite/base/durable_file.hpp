// Files and folders that appear whole under their name, and are still there after a power cut.
#pragma once

#include <filesystem>
#include <string>

namespace assay {

/// Gives `aside`, a finished file or a folder of finished files, the name `name` in the same folder
/// or file system. Its content is on the device before the name appears, and the name before this
/// returns. A file of that name is replaced, a folder that is not empty is not. Throws
/// std::filesystem::filesystem_error.
void publish(const std::filesystem::path& aside, const std::filesystem::path& name);

/// Of a file its content, of a folder the names in it; where a file system cannot do that with a
/// folder, nothing. Throws std::filesystem::filesystem_error.
void write_to_device(const std::filesystem::path& path);

/// Why no file of that name can be made: its folder is not there, or is none. A sentence that says
/// how to mend it; empty: the folder is there. What a person names is made in folders that are
/// there: a misspelt one would take the file where nobody looks for it.
std::string missing_folder(const std::filesystem::path& file);

}  // namespace assay
