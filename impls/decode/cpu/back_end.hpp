// Steps on the processor.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "impls/decode/back_end.hpp"
#include "impls/decode/cpu/forward_pass.hpp"
#include "impls/decode/cpu/picker.hpp"

namespace assay::decode {

class CpuBackEnd final : public BackEnd {
  public:
    /// options.blocks must be positive. Throws UserError: no memory, no threads.
    CpuBackEnd(std::shared_ptr<CpuModel> model, const PassOptions& options);

    int vocabulary() const override { return pass_.model().config.vocabulary; }
    int context() const override { return pass_.model().config.context; }
    int blocks() const override { return pass_.cache().blocks(); }
    std::size_t block_bytes() const override { return pass_.cache().block_bytes(); }
    std::string identity() const override;
    bool fits(const ModelWeights& weights) const override;
    void use(std::shared_ptr<ModelWeights> weights) override;

    void run(std::span<const Slice> slices, std::span<Outcome> out) override;

    void copy_block(int from, int to, int positions) override;
    bool can_link() const override { return pass_.rotates(); }
    void link(const LinkedPositions& linked) override { pass_.link(linked); }
    void read_block(int block, std::span<std::byte> out) const override;
    void write_block(int block, std::span<const std::byte> in) override;
    double step_seconds() const override { return seconds_; }
    std::uint64_t step_bytes() const override { return bytes_; }

    const CpuModel& model() const { return pass_.model(); }

  private:
    struct Place {
        int slice, index;  ///< of a token within its slice
    };
    void run_pass(std::span<const Slice> slices, std::span<const Place> places,
                  std::span<Outcome> out);

    ForwardPass pass_;
    ActivationType activations_;
    Picker picker_;
    double seconds_ = 0;
    std::uint64_t bytes_ = 0;
    // Of a step, or of a pass.
    std::vector<Place> places_;
    std::vector<FedToken> tokens_;
    std::vector<int> wanted_;
    std::vector<LogitRow> rows_;
    std::vector<PickedRow> picked_;
};

}  // namespace assay::decode
