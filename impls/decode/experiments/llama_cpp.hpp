// llama.cpp's benchmark of batches as a process of its own, built by scripts/peers.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace assay::decode {

/// ASSAY_LLAMA_BENCH, or where scripts/peers puts it; nothing where it is not there.
std::optional<std::filesystem::path> llama_cpp_program();

struct LlamaCppRun {
    std::filesystem::path model;
    int batch = 1, threads = 0, prompt = 128, tokens = 128;
    int repeats = 1;  ///< batches one after the other in a process
};
struct LlamaCppSpeed {
    double tokens_per_s = 0, prefill_tokens_per_s = 0;
};

/// Of each speed the better, with flash attention on and off. Throws SampleError: it does not run,
/// or says nothing that is understood.
LlamaCppSpeed run_llama_cpp(const LlamaCppRun& run);

/// Of what it prints with --output-format jsonl: all batches' tokens, which are as many in each,
/// over the time of all. Nothing where no line tells of a batch.
std::optional<LlamaCppSpeed> llama_cpp_speed(std::string_view printed);

}  // namespace assay::decode
