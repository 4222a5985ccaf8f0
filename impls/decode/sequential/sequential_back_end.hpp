// Steps on the engine that decodes one sequence at a time, for comparison and where there is no
// faster back end. Its cache keeps token ids; keys and values are computed again whenever the
// sequence changes, so that it is slow, and right whatever the blocks are used for.
#pragma once

#include <vector>

#include "impls/decode/back_end.hpp"
#include "impls/decode/engine.hpp"

namespace assay::decode {

class SequentialBackEnd final : public BackEnd {
  public:
    /// Throws UserError as Engine does.
    SequentialBackEnd(const nn::TensorFile& file, const EngineOptions& options, int blocks);

    int vocabulary() const override { return engine_.config().vocabulary; }
    int context() const override { return engine_.context(); }
    int blocks() const override { return static_cast<int>(ids_.size()) / block_positions; }
    std::size_t block_bytes() const override { return block_positions * sizeof(int); }
    void run(std::span<const Slice> slices, std::span<Outcome> out) override;
    void copy_block(int from, int to, int positions) override;
    void read_block(int block, std::span<std::byte> out) const override;
    void write_block(int block, std::span<const std::byte> in) override;
    double step_seconds() const override { return step_s_; }

  private:
    int& id_at(std::span<const int> blocks, int position);
    void go_to(const Slice& slice);
    void run_one(const Slice& slice, Outcome& out);

    Engine engine_;
    std::vector<int> ids_;  // [block][position]
    std::vector<int> fed_;  // what is in the engine's cache
    double step_s_ = 0;
};

}  // namespace assay::decode
