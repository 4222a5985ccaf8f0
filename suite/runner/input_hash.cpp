#include "suite/runner/input_hash.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <system_error>

#include "suite/base/error.hpp"
#include "suite/base/sha256.hpp"

namespace assay::runner {
namespace {

/// A file written a moment ago may be written again without its time of change moving on: kernels
/// count it in ticks of up to 10 ms, FAT in steps of two seconds. Its hash is not remembered.
constexpr std::chrono::seconds time_to_settle{3};

bool has_settled(const FileStamp& stamp) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::nanoseconds(stamp.modified_ns) + time_to_settle < now;
}

/// SHA-256 by file and stamp, for the life of the process; several threads may make plans.
class RememberedHashes {
  public:
    std::optional<std::string> find(const std::filesystem::path& file, const FileStamp& stamp) {
        const std::lock_guard lock(mutex_);
        const auto found = by_file_.find(file);
        if (found == by_file_.end() || found->second.first != stamp) return std::nullopt;
        return found->second.second;
    }
    void add(const std::filesystem::path& file, const FileStamp& stamp, const std::string& sha256) {
        const std::lock_guard lock(mutex_);
        by_file_[file] = {stamp, sha256};
    }

  private:
    std::mutex mutex_;
    std::map<std::filesystem::path, std::pair<FileStamp, std::string>> by_file_;
};

/// `stamp`: taken just now. std::system_error: the file cannot be read.
std::string content_hash(const std::filesystem::path& file, const FileStamp& stamp) {
    static RememberedHashes remembered;
    if (auto hash = remembered.find(file, stamp)) return *std::move(hash);
    const bool settled = has_settled(stamp);
    std::string hash = sha256_file_hex(file);
    if (settled) remembered.add(file, stamp, hash);
    return hash;
}

bool has_changed(const HashedInput& input) {
    const std::optional<FileStamp> now = stamp_of(input.file);
    if (now == input.stamp) return false;
    if (!now || !input.stamp) return true;
    try {
        return content_hash(input.file, *now) != input.sha256;  // a copy is no change
    } catch (const std::system_error&) {
        return true;
    }
}

}  // namespace

std::optional<FileStamp> stamp_of(const std::filesystem::path& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    return FileStamp{.device = status.st_dev,
                     .inode = status.st_ino,
                     .size_bytes = status.st_size,
                     .modified_ns = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 +
                                    status.st_mtim.tv_nsec};
}

std::string data_hash(const std::vector<HashedInput>& inputs) {
    std::string listed;
    for (const HashedInput& input : inputs)
        if (!input.sha256.empty()) listed += fmt::format("{} {}\n", input.name, input.sha256);
    return listed.empty() ? std::string() : sha256_hex(listed);
}

const HashedInput* find_changed(const std::vector<HashedInput>& inputs) {
    const auto found = std::find_if(inputs.begin(), inputs.end(), has_changed);
    return found == inputs.end() ? nullptr : &*found;
}

const HashedInput& InputHash::read(const std::filesystem::path& file) {
    const auto [at, is_new] = known_.try_emplace(file);
    if (!is_new) return at->second;
    at->second.file = file;
    // Why it is not there, `unsupported` says.
    at->second.stamp = stamp_of(file);
    if (at->second.stamp) try {
            at->second.sha256 = content_hash(file, *at->second.stamp);
        } catch (const std::system_error& error) {
            known_.erase(at);
            throw UserError(
                fmt::format("{} cannot be read: {}", file.string(), error.code().message()));
        }
    return at->second;
}

std::vector<HashedInput> InputHash::files(const std::vector<Input>& inputs) {
    std::vector<HashedInput> found;
    for (const Input& input : inputs) {
        found.push_back(read(input.file));
        found.back().name = input.name;
    }
    return found;
}

std::vector<HashedInput> InputHash::as_found(const Experiment& experiment, const SampleSpec& spec) {
    return experiment.inputs ? files(experiment.inputs(spec)) : std::vector<HashedInput>();
}

std::vector<HashedInput> InputHash::of(const Experiment& experiment, const SampleSpec& spec) {
    if (!experiment.inputs) return {};
    const std::vector<Input> inputs = experiment.inputs(spec);
    std::vector<HashedInput> found = files(inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const Input& wanted = inputs[i];
        const std::string& sha256 = found[i].sha256;
        if (!wanted.sha256.empty() && !sha256.empty() && sha256 != wanted.sha256)
            throw UserError(fmt::format(
                "{}: {}, the {} of {}, was changed or damaged: its sha256 is {} where {} is known. "
                "Remove it and fetch it again (`assay data list`)",
                spec.experiment, wanted.file.string(), wanted.name, spec.experiment, sha256,
                wanted.sha256));
    }
    return found;
}

}  // namespace assay::runner
