#include "impls/lte/timing/tensor_decode_timing.hpp"

#include <functional>

#include "impls/decode/tensors/tensor_decoder.hpp"
#include "impls/nn/own_stream.hpp"

namespace assay::lte {
namespace {

class TensorArm {
  public:
    TensorArm(const TimedDevice& device, const TensorDecoding& setting,
              const decode::ExpertSelection& selection)
        : device_(device),
          length_(setting.length),
          vocabulary_(setting.weights->config.vocabulary),
          decoder_(setting.weights, device.kernels(), device.context(),
                   setting.length + decoded_tokens, selection, setting.cache_type) {
        // Ids of ordinary tokens; what they mean does not matter to time.
        for (int i = 0; i < length_; ++i) decoder_.feed((1000 + i) % vocabulary_);
        bytes_ = static_cast<double>(decoder_.bytes_per_token());
        decode();  // loads what is loaded lazily
        device_.must(device_.kernels().synchronise(device_.context()));
    }
    /// Once every tensor that is to stay has been made: what is recorded uses memory that libtorch
    /// holds to be free afterwards.
    void record() {
        again_ = device_.repeatable([this] { decode(); });
        again_();
    }
    double seconds_per_token() const { return device_.seconds(again_) / decoded_tokens; }
    double bytes() const { return bytes_; }

  private:
    void decode() {
        decoder_.rewind(length_);
        for (int i = 0; i < decoded_tokens; ++i) decoder_.feed((500 + i) % vocabulary_);
    }

    const TimedDevice& device_;
    int length_, vocabulary_;
    decode::TensorDecoder decoder_;
    double bytes_ = 0;
    std::function<void()> again_;
};

}  // namespace

DecodeTimes time_tensor_decoder(const TensorDecoding& setting, const Progress& progress) {
    const nn::OwnStream stream(setting.weights->device());
    const TimedDevice device(*setting.kernels, stream.handle());
    const ReadBandwidth read(device, setting.read_pass_bytes);
    decode::ExpertSelection selection;
    if (setting.active)
        selection = {.by = decode::ExpertSelection::By::random, .random = *setting.active};
    TensorArm dense(device, setting, {}), own(device, setting, selection);
    dense.record();
    own.record();
    return time_in_turns({.dense = [&] { return dense.seconds_per_token(); },
                          .own = [&] { return own.seconds_per_token(); },
                          .own_bytes = own.bytes()},
                         &read, setting.rounds, progress);
}

}  // namespace assay::lte
