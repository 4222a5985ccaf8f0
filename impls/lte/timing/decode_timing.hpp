// Times decoding, dense against sparse in the same rounds, with a plain read of memory beside them:
// the rounds, and the CPU engine in them. tensor_decode_timing.hpp has the devices of libtorch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "impls/nn/files/tensor_file.hpp"
#include "kernels/plugin/timed_device.hpp"
#include "suite/experiment/metrics.hpp"

namespace assay::lte {

using kernels::ReadBandwidth;
using kernels::TimedDevice;

struct DecodeTimes {
    double seconds = 0;          ///< per token, median over rounds
    double latency_ratio = 0;    ///< own over dense of the same round, median
    double bytes_per_token = 0;  ///< weights and cache that own read, mean over the tokens
    // Where a plain read of memory was in every round:
    std::optional<double> bound_share;     ///< bytes over its bandwidth, over latency, median
    std::optional<double> read_bandwidth;  ///< bytes per second, median over rounds
};

struct DecodeFound : Metrics {
    using Metrics::Metrics;
    Metric latency_s = varying("latency_s", "s", "per token, median over rounds", lower);
    Metric tokens_per_s = varying("tokens_per_s", "1/s", "its inverse", higher);
    Metric latency_ratio = varying("latency_ratio", "ratio",
                                   "own over dense latency of the same round, median", lower);
    Metric latency_saved =
        varying("latency_saved", "fraction", "of the dense latency, 1 - latency_ratio", higher);
    Metric bound_share =
        varying("bound_share", "share",
                "time to read a token's weights and cache at the bandwidth of a plain read in the "
                "same round, over latency, median",
                higher);
    Metric bytes_per_token =
        exact("bytes_per_token", "B", "weights and cache read for one token", lower);
    Metric read_bandwidth = varying("read_bandwidth", "GB/s",
                                    "of a plain read with the same threads (GPU: of the whole "
                                    "device), median over rounds",
                                    higher);
};
void record(const DecodeTimes& times, const DecodeFound& found);

/// What is timed, always the same tokens behind the prompt.
struct DecodeArms {
    std::function<double()> dense, own;  ///< seconds per token
    double own_bytes = 0;                ///< that a token of own reads
};
constexpr int decoded_tokens = 8;  ///< that an arm decodes when its turn comes

using Progress = std::function<void(double fraction)>;

/// Every round times both arms, dense first in every second one, and one plain read; read: null
/// where there is to be none.
DecodeTimes time_in_turns(const DecodeArms& arms, const ReadBandwidth* read, int rounds,
                          const Progress& progress);

/// A model file on the decoding engine of the CPU, in bf16, on all cores.
struct EngineDecoding {
    int length = 32;                 ///< tokens in the cache when timing begins
    std::optional<double> sparsity;  ///< of own; none: dense against itself
    std::uint64_t seed = 1;
    int rounds = 15;
    std::size_t read_pass_bytes = std::size_t{512} << 20;
};
/// Sparse: 32 neurons of the file's order are an expert, routers are drawn at random and not heard:
/// latency depends on how many experts are active and not on which. Throws UserError when the
/// neurons of a layer are no multiple of 32.
DecodeTimes time_engine(const nn::TensorFile& file, const EngineDecoding& setting,
                        const Progress& progress);

/// What is decoded: the tokens, one by one, behind the prompt.
struct DecodedText {
    std::vector<int> prompt, tokens;
};
/// A model file that leaves out neurons (or none), as it says it does, against its own weights with
/// dense feed-forward networks: bf16, all cores of the CPU. Which neurons remain hangs on the text.
/// beside_reads: with a plain read of memory in every round, for files that fit no cache.
DecodeTimes time_file(const nn::TensorFile& file, const DecodedText& text, int rounds,
                      bool beside_reads, const Progress& progress);

}  // namespace assay::lte
