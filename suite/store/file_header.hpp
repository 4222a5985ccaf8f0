// Looks at a file before SQLite does, so that a file of somebody else is never touched.
#pragma once

#include <cstdint>
#include <filesystem>

namespace assay::store {

/// "ASSY", in the application_id field of the header of every results database.
inline constexpr std::uint32_t application_id = 0x41535359;

/// StoreError unless `file` is an Assay database of a version up to `newest`, or (when
/// `may_be_empty`) an empty file. Reads 100 bytes, writes nothing.
void refuse_foreign_file(const std::filesystem::path& file, std::uint32_t newest,
                         bool may_be_empty);

}  // namespace assay::store
