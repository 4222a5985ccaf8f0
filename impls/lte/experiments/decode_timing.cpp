#include "impls/lte/experiments/decode_timing.hpp"

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <vector>

#include "impls/decode/tensors/tensor_decoder.hpp"
#include "impls/lte/experiments/median_of.hpp"
#include "impls/lte/experiments/timed_device.hpp"

namespace assay::lte {
namespace {

constexpr int decoded_tokens = 8;

/// libtorch's current stream on a GPU, for as long as this lives: one of its own, which can record
/// (the default one cannot). On the CPU: nothing.
class OwnStream {
  public:
    explicit OwnStream(at::Device device) {
        if (device.is_cpu()) return;
        const c10::impl::VirtualGuardImpl guard(device.type());
        guard.synchronizeDevice(device.index());  // weights come from the default stream
        const c10::Stream stream = guard.getNewStream(device);
        handle_ = stream.native_handle();
        guard_.emplace(stream);
    }
    void* handle() const { return handle_; }

  private:
    std::optional<c10::StreamGuard> guard_;
    void* handle_ = nullptr;
};

class DecodedTokens {
  public:
    DecodedTokens(const TimedDevice& device, const DecodeSetting& setting,
                  const decode::ExpertChoice& choice)
        : device_(device),
          length_(setting.length),
          vocabulary_(setting.weights->config.vocabulary),
          decoder_(setting.weights, device.kernels(), device.context(),
                   setting.length + decoded_tokens, choice, setting.cache_type) {
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

DecodeTimes time_decoding(const DecodeSetting& setting,
                          const std::function<void(double fraction)>& progress) {
    const OwnStream stream(setting.weights->device());
    const TimedDevice device(*setting.kernels, stream.handle());
    const ReadBandwidth read(device, setting.read_pass_bytes);
    decode::ExpertChoice choice;
    if (setting.drawn) choice = {decode::ExpertChoice::By::chance, 0, *setting.drawn};
    DecodedTokens dense(device, setting, {}), own(device, setting, choice);
    dense.record();
    own.record();

    std::vector<double> seconds, ratio, share, bandwidth;
    for (int round = 0; round < setting.rounds; ++round) {
        const bool dense_first = round % 2 == 0;
        double other = dense_first ? dense.seconds_per_token() : 0;
        seconds.push_back(own.seconds_per_token());
        if (!dense_first) other = dense.seconds_per_token();
        bandwidth.push_back(read.measure());
        ratio.push_back(seconds.back() / other);
        share.push_back(own.bytes() / bandwidth.back() / seconds.back());
        progress(static_cast<double>(round + 1) / setting.rounds);
    }
    return {median_of(seconds), median_of(ratio), median_of(share), own.bytes(),
            median_of(bandwidth)};
}

}  // namespace assay::lte
