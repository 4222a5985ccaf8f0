#include "impls/nn/moe/checkpoint.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <fstream>
#include <system_error>

#include "impls/nn/training/checkpoint_files.hpp"

namespace assay::nn {
namespace {

std::filesystem::path file_of(const std::filesystem::path& folder, std::int64_t step,
                              BlockKey key) {
    auto name = block_name(key);
    for (auto& c : name)
        if (c == '/') c = '-';
    return checkpoint_folder(folder, step) / (name + ".state");
}

std::string header_of(const ParameterBlock& block, std::int64_t step, std::uint64_t digest) {
    return fmt::format("assay-moe-state 1 step {} elements {} bytes-each {} digest {:016x}\n", step,
                       block.state_count(), block.state()[0].element_size(), digest);
}

void write_block(const std::filesystem::path& file, const std::string& header,
                 const ParameterBlock& block, bool disk_full) {
    try {
        AtomicFile out(file, disk_full);
        out.write(header.data(), header.size());
        for (const auto& part : block.state()) out.write(part.data_ptr(), part.nbytes());
        out.publish();
    } catch (const std::system_error& error) {
        throw CheckpointError(error.what());
    }
}

}  // namespace

void write_checkpoint(const std::filesystem::path& folder, std::int64_t step, MoeState& state,
                      const std::vector<BlockKey>& blocks, CheckpointDamage damage) {
    for (const auto& key : blocks) {
        const auto* block = state.find(key);
        if (!block)
            throw CheckpointError("asked to write " + block_name(key) + ", which is not held");
        const auto digest = block->digest();
        if (digest != state.sealed(key))
            throw CheckpointError(block_name(key) + " has changed since it was last written");
        const auto file = file_of(folder, step, key);
        std::filesystem::create_directories(file.parent_path());
        write_block(file, header_of(*block, step, digest), *block,
                    damage == CheckpointDamage::no_space);
    }
    if (damage == CheckpointDamage::torn && !blocks.empty()) {
        const auto file = file_of(folder, step, blocks.back());
        std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
    }
}

void read_checkpoint(const std::filesystem::path& folder, std::int64_t step, MoeState& state,
                     const std::vector<BlockKey>& blocks) {
    for (const auto& key : blocks) {
        auto& block = state.make_initial(key);
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
        state.seal(key);
        if (!in || in.peek() != std::ifstream::traits_type::eof() ||
            header + "\n" != header_of(block, step, state.sealed(key))) {
            throw CheckpointError(file.string() + " is not a whole checkpoint of " +
                                  block_name(key) + " at step " + std::to_string(step));
        }
    }
}

}  // namespace assay::nn
