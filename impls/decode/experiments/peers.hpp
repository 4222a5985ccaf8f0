// What our engine is measured against: other engines' benchmarks of batches, as processes of their
// own that scripts/peers builds.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "impls/nn/files/stored_tensor.hpp"
#include "suite/base/describe.hpp"

namespace assay::decode {

enum class Peer { llama_cpp, ik_llama_cpp };
ASSAY_NAMES(Peer, (llama_cpp, "llama.cpp"), (ik_llama_cpp, "ik_llama.cpp"))

/// ASSAY_LLAMA_BENCH or ASSAY_IK_LLAMA_BENCH, or where scripts/peers puts it; nothing where it is
/// not there.
std::optional<std::filesystem::path> peer_program(Peer);

/// What scripts/peers has not put where it belongs; nothing where all is there: benchmarks of both
/// peers and llama-quantize (or ASSAY_LLAMA_QUANTIZE).
std::optional<std::string> peers_lack();
/// The same, of llama-quantize alone.
std::optional<std::string> quantize_lacks();

/// `model` in blocks of `type`, its embedding and output, too, by llama-quantize. Throws
/// SampleError.
void quantize(const std::filesystem::path& model, nn::TensorType type,
              const std::filesystem::path& out);

struct PeerRun {
    std::filesystem::path model;
    int batch = 1, threads = 0, prompt = 128, tokens = 128;
    int repeats = 1;  ///< batches one after the other in a process
};
struct PeerSpeed {
    double tokens_per_s = 0, prefill_tokens_per_s = 0;
    int crashes = 0;  ///< of its two kinds of attention; the speeds are of the others
};

/// Of each speed the better, with flash attention on and off; ik_llama.cpp rearranges weights when
/// it loads them (-rtr), llama.cpp does so by itself. Zeros where it crashes with both. Throws
/// SampleError: it cannot be started, or says nothing that is understood.
PeerSpeed run_peer(Peer peer, const PeerRun& run);

/// Of what a benchmark prints, a line of JSON or a row of a table for each batch: all batches'
/// tokens, which are as many in each, over the time of all. Nothing where no line tells of a batch.
std::optional<PeerSpeed> peer_speed(std::string_view printed);

}  // namespace assay::decode
