// What samples read, by content: a corpus of the same name with other words is other data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "suite/experiment/experiment.hpp"

namespace assay::runner {

/// What tells a file from a later one of its name without reading it.
struct FileStamp {
    std::uint64_t device = 0, inode = 0;
    std::int64_t size_bytes = 0;
    std::int64_t modified_ns = 0;  ///< since 1970
    bool operator==(const FileStamp&) const = default;
};

/// nullopt: no regular file is there.
std::optional<FileStamp> stamp_of(const std::filesystem::path& file);

/// A file that samples read, as it was when it was hashed.
struct HashedInput {
    std::string name;  ///< what it is to the experiment: "corpus", "weights"
    std::filesystem::path file;
    std::optional<FileStamp> stamp;  ///< nullopt: it was not there
    std::string sha256;              ///< empty: it was not there
};

/// How series name the data of their samples: SHA-256 over name and SHA-256 of every file in its
/// order. A file that is not there is left out, and where there is none the text is empty.
std::string data_hash(const std::vector<HashedInput>& inputs);

/// The first that has other content now than when it was hashed; null: none. Files whose stamps are
/// as they were are not read.
const HashedInput* find_changed(const std::vector<HashedInput>& inputs);

/// Each file is read once in the life of an object, so that all samples of a plan agree; and once
/// per process as long as its stamp stays what it was, since a suite makes a plan for every entry
/// and every rerun, each of hundreds of megabytes.
class InputHash {
  public:
    /// In the experiment's order. UserError: a file cannot be read, or is not what the experiment
    /// says it must be.
    std::vector<HashedInput> of(const Experiment& experiment, const SampleSpec& spec);
    /// The same whatever their content is. UserError: a file cannot be read.
    std::vector<HashedInput> as_found(const Experiment& experiment, const SampleSpec& spec);

  private:
    std::vector<HashedInput> files(const std::vector<Input>& inputs);
    const HashedInput& read(const std::filesystem::path& file);
    std::map<std::filesystem::path, HashedInput> known_;  ///< by file, without name
};

}  // namespace assay::runner
