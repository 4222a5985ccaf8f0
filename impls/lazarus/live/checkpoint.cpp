#include "impls/lazarus/live/checkpoint.hpp"

#include <ATen/ATen.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

namespace assay::lazarus {
namespace {

std::filesystem::path file_of(const std::filesystem::path& folder, std::int64_t step,
                              BlockKey key) {
    auto name = block_name(key);
    for (auto& c : name)
        if (c == '/') c = '-';
    return checkpoint_folder(folder, step) / (name + ".state");
}

std::string header_of(const nn::ParameterBlock& block, std::int64_t step, std::uint64_t digest) {
    return fmt::format("assay-lazarus-state 1 step {} elements {} bytes-each {} digest {:016x}\n",
                       step, block.state_count(), block.state()[0].element_size(), digest);
}

// A file written aside, then renamed to its name: it appears whole or not at all.
class AsideFile {
  public:
    /// `full`: the writes go to a device that is always full.
    AsideFile(std::filesystem::path file, bool full) : file_(std::move(file)), aside_(file_) {
        aside_ += ".part";
        fd_ = ::open(full ? "/dev/full" : aside_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                     0644);
        if (fd_ < 0) fail();
    }
    ~AsideFile() {
        if (fd_ >= 0) ::close(fd_);
        std::error_code ignored;  // renamed, or never made
        std::filesystem::remove(aside_, ignored);
    }
    AsideFile(const AsideFile&) = delete;
    AsideFile& operator=(const AsideFile&) = delete;

    void write(const void* data, std::size_t size) {
        const auto* bytes = static_cast<const char*>(data);
        while (size > 0) {
            const auto written = ::write(fd_, bytes, size);
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) fail();
            bytes += written;
            size -= static_cast<std::size_t>(written);
        }
    }
    void publish() {
        if (::fsync(fd_) != 0) fail();
        if (::close(std::exchange(fd_, -1)) != 0) fail();
        std::filesystem::rename(aside_, file_);
    }

  private:
    [[noreturn]] void fail() const {
        throw CheckpointError("cannot write " + file_.string() + ": " + std::strerror(errno));
    }

    std::filesystem::path file_, aside_;
    int fd_ = -1;
};

}  // namespace

std::filesystem::path checkpoint_folder(const std::filesystem::path& folder, std::int64_t step) {
    return folder / fmt::format("step-{}", step);
}

void write_checkpoint(const std::filesystem::path& folder, std::int64_t step, Trainer& trainer,
                      const std::vector<BlockKey>& blocks, CheckpointDamage damage) {
    for (const auto& key : blocks) {
        const auto* block = trainer.find(key);
        if (!block)
            throw CheckpointError("asked to write " + block_name(key) + ", which is not held");
        const auto digest = block->digest();
        if (digest != trainer.sealed(key))
            throw CheckpointError(block_name(key) + " has changed since it was last written");
        const auto file = file_of(folder, step, key);
        std::filesystem::create_directories(file.parent_path());
        AsideFile out(file, damage == CheckpointDamage::no_space);
        const auto header = header_of(*block, step, digest);
        out.write(header.data(), header.size());
        for (const auto& part : block->state()) out.write(part.data_ptr(), part.nbytes());
        out.publish();
    }
    if (damage == CheckpointDamage::torn && !blocks.empty()) {
        const auto file = file_of(folder, step, blocks.back());
        std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
    }
}

void read_checkpoint(const std::filesystem::path& folder, std::int64_t step, Trainer& trainer,
                     const std::vector<BlockKey>& blocks) {
    for (const auto& key : blocks) {
        auto& block = trainer.make_initial(key);
        if (step == 0) continue;
        const auto file = file_of(folder, step, key);
        std::ifstream in(file, std::ios::binary);
        std::string header;
        if (!std::getline(in, header)) throw CheckpointError("cannot read " + file.string());
        for (auto part : block.state())
            in.read(static_cast<char*>(part.data_ptr()),
                    static_cast<std::streamsize>(part.nbytes()));
        // The header is a function of the content: one comparison finds a foreign, torn or altered
        // file.
        trainer.seal(key);
        if (!in || in.peek() != std::ifstream::traits_type::eof() ||
            header + "\n" != header_of(block, step, trainer.sealed(key))) {
            throw CheckpointError(file.string() + " is not a whole checkpoint of " +
                                  block_name(key) + " at step " + std::to_string(step));
        }
    }
}

}  // namespace assay::lazarus
