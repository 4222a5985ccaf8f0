// Probe of the device under a folder.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <system_error>

#include "suite/measure/machine_probe.hpp"

namespace assay::measure {
namespace {

/// A file that nobody else can see: its name is taken away at once.
class NamelessFile {
  public:
    explicit NamelessFile(const std::filesystem::path& folder) {
        std::string name = (folder / "probe-XXXXXX").string();
        fd_ = ::mkostemp(name.data(), O_CLOEXEC);
        if (fd_ < 0) fail("making a file in " + folder.string());
        ::unlink(name.c_str());
    }
    ~NamelessFile() { ::close(fd_); }
    NamelessFile(const NamelessFile&) = delete;
    NamelessFile& operator=(const NamelessFile&) = delete;

    void write(const std::vector<char>& bytes) const {
        for (std::size_t done = 0; done < bytes.size();) {
            const ssize_t some = ::write(fd_, bytes.data() + done, bytes.size() - done);
            if (some < 0 && errno != EINTR) fail("writing the probe's file");
            if (some > 0) done += static_cast<std::size_t>(some);
        }
    }
    void sync() const {
        if (::fsync(fd_) != 0) fail("fsync of the probe's file");
    }

  private:
    [[noreturn]] static void fail(const std::string& what) {
        throw std::system_error(errno, std::generic_category(), what);
    }
    int fd_;
};

}  // namespace

Reading probe_storage(const ProbeEffort& effort, const std::filesystem::path& folder) {
    std::vector<char> piece(1 << 20);
    for (std::size_t i = 0; i < piece.size(); ++i)  // not all alike: some devices compress
        piece[i] = static_cast<char>((i * 2654435761U) >> 13);
    const std::uint64_t pieces = effort.storage_bytes / piece.size();
    Reading reading;
    reading.how =
        fmt::format("writing {} MiB into a new file in the data folder, with fsync", pieces);
    for (int i = 0; i < effort.repetitions; ++i) {
        const NamelessFile file(folder);
        const auto start = std::chrono::steady_clock::now();
        for (std::uint64_t written = 0; written < pieces; ++written) file.write(piece);
        file.sync();
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
        reading.values.push_back(static_cast<double>(pieces * piece.size()) / taken.count());
    }
    return reading;
}

}  // namespace assay::measure
