#include "impls/lazarus/live/checkpoint.hpp"

#include <ATen/ATen.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

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

void sync_to_disk(const std::filesystem::path& file) {
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0 || ::fsync(fd) != 0) {
        const std::string why = std::strerror(errno);
        if (fd >= 0) ::close(fd);
        throw CheckpointError("cannot write " + file.string() + ": " + why);
    }
    ::close(fd);
}

}  // namespace

std::filesystem::path checkpoint_folder(const std::filesystem::path& folder, std::int64_t step) {
    return folder / fmt::format("step-{}", step);
}

void write_checkpoint(const std::filesystem::path& folder, std::int64_t step, Trainer& trainer,
                      const std::vector<BlockKey>& blocks) {
    for (const auto& key : blocks) {
        const auto* block = trainer.find(key);
        if (!block)
            throw CheckpointError("asked to write " + block_name(key) + ", which is not held");
        const auto file = file_of(folder, step, key);
        auto aside = file;
        aside += ".part";
        std::filesystem::create_directories(file.parent_path());
        std::ofstream out(aside, std::ios::binary);
        out << header_of(*block, step, block->digest());
        for (const auto& part : block->state())
            out.write(static_cast<const char*>(part.data_ptr()),
                      static_cast<std::streamsize>(part.nbytes()));
        out.close();
        if (!out) throw CheckpointError("cannot write " + aside.string() + ": is the disk full?");
        sync_to_disk(aside);
        std::filesystem::rename(aside, file);
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
        if (!in || in.peek() != std::ifstream::traits_type::eof() ||
            header + "\n" != header_of(block, step, block.digest())) {
            throw CheckpointError(file.string() + " is not a whole checkpoint of " +
                                  block_name(key) + " at step " + std::to_string(step));
        }
    }
}

}  // namespace assay::lazarus
