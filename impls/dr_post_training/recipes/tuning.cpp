#include "impls/dr_post_training/recipes/tuning.hpp"

#include "impls/dr_post_training/method/meso.hpp"
#include "impls/nn/lora.hpp"
#include "impls/rl/recipes/update.hpp"

namespace assay::dr_post_training {
namespace {

class Whole : public Tuning {
  public:
    explicit Whole(nn::Decoder& decoder) : decoder_(decoder) {}
    std::vector<nn::TrainedBlock> blocks() override { return rl::blocks_of(decoder_); }

  private:
    nn::Decoder& decoder_;
};

std::vector<nn::TrainedBlock> all_of(std::vector<std::unique_ptr<nn::ParameterBlock>>& blocks) {
    std::vector<nn::TrainedBlock> list;
    for (auto& block : blocks) list.emplace_back(block.get());
    return list;
}

class Adapters : public Tuning {
  public:
    Adapters(nn::Decoder& decoder, const nn::LoraOptions& options) : lora_(decoder, options) {}
    std::vector<nn::TrainedBlock> blocks() override { return all_of(lora_.blocks()); }
    Adapt adapt() override {
        return [this](nn::Maps& inner) { return lora_.over(inner, step_); };
    }
    Adapt judging() override {
        return [this](nn::Maps& inner) { return lora_.over(inner); };
    }
    void begin(std::int64_t step) override { step_ = step; }
    std::unique_ptr<nn::Maps> learnt(nn::Maps& plain) override { return lora_.over(plain); }

  private:
    nn::Lora lora_;
    std::int64_t step_ = 0;  ///< draws the dropout
};

class Subspaces : public Tuning {
  public:
    Subspaces(nn::Decoder& decoder, const MesoOptions& options)
        : decoder_(decoder), meso_(decoder, options) {}
    std::vector<nn::TrainedBlock> blocks() override {
        auto list = all_of(meso_.blocks());
        list.emplace_back(decoder_.blocks().front().get());
        return list;
    }
    Adapt adapt() override {
        return [this](nn::Maps& inner) { return meso_.over(inner); };
    }
    void begin(std::int64_t step) override { meso_.begin(step); }
    void updated() override { meso_.apply(); }
    bool resumable() const override { return false; }  // the layers' weights are in no block

  private:
    nn::Decoder& decoder_;
    Meso meso_;
};

}  // namespace

std::unique_ptr<nn::Maps> Tuning::learnt(nn::Maps&) { return std::make_unique<nn::Maps>(); }

std::unique_ptr<Tuning> make_tuning(const SftSettings& settings, nn::Decoder& decoder,
                                    std::uint64_t seed) {
    if (settings.readings.tuning == Trained::lora)
        return std::make_unique<Adapters>(
            decoder, nn::LoraOptions{.rank = 8, .alpha = 16, .dropout = 0.1, .seed = seed});
    if (settings.readings.tuning == Trained::meso) {
        // As 512 is of the paper's model: a quarter of the width.
        const auto side = std::max<std::int64_t>(1, settings.model.width / 4);
        return std::make_unique<Subspaces>(
            decoder,
            MesoOptions{.outputs = side, .inputs = side, .redraw_every = 200, .seed = seed});
    }
    return std::make_unique<Whole>(decoder);
}

}  // namespace assay::dr_post_training
