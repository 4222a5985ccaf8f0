// manifest.json: what an archive was made of, for people and other programs, and the length and
// SHA-256 of each of its files (specification 3.7.2, 3.12.1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "impls/foundry/method/archive/graph_encoder.hpp"
#include "impls/foundry/method/fingerprint.hpp"
#include "impls/foundry/method/memory/region.hpp"
#include "impls/foundry/method/rank_patch.hpp"

namespace assay::foundry {

/// The memory at whose addresses the graphs were captured, as SAVE left it.
struct SavedRegion {
    RegionSettings settings;
    std::uint64_t final = 0;  ///< the cursor
    std::vector<Range> live;
};

/// The result of a known request with the graph of a batch size, as it was when it was saved: what
/// the first replay of a restored one must give.
struct GoldenResult {
    std::int64_t batch = 0;
    std::uint64_t result = 0;

    bool operator==(const GoldenResult&) const = default;
};

struct FileRecord {
    std::string name;
    std::uint64_t bytes = 0;
    std::string sha256;
};

struct Manifest {
    std::optional<Fingerprint> fingerprint;
    std::optional<SavedRegion> region;
    std::vector<GoldenResult> golden;
    std::optional<RankTags> ranks;  ///< absent where graphs are of one rank
    std::vector<FileRecord> files;
};

/// As sha256sum prints it: "HASH  NAME".
std::string sum_line(std::string_view sha256, std::string_view name);

std::string to_text(const Manifest& manifest, const GraphEncoder& graphs);

/// The graphs' batches and groups are not read: graphs.bin and deltas.bin say them. DamagedArchive,
/// and UserError for one of another version.
Manifest read_manifest(std::string_view text, const std::string& name);

}  // namespace assay::foundry
