// x_product: a trained model on its way through a file to the decoder.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "impls/decode/back_ends.hpp"
#include "impls/decode/requests/scoring.hpp"
#include "impls/lte/experiments/on_workbench.hpp"
#include "impls/lte/timing/decode_timing.hpp"
#include "impls/nn/files/decoder_config.hpp"
#include "impls/nn/files/tensor_file.hpp"

namespace assay::lte {
namespace {

constexpr std::size_t prompt_tokens = 32, timed_tokens = 64;

std::vector<int> ids_of(const at::Tensor& window) {
    const auto flat = window.reshape({-1}).contiguous();
    const auto* const from = flat.const_data_ptr<std::int64_t>();
    return {from, from + flat.numel()};
}

/// Nats per token of held-out text, as the decoding engine computes it from the file.
double decoded_nll(const nn::TensorFile& file, const std::vector<at::Tensor>& windows,
                   Recorder& recorder) {
    std::int64_t longest = 0;
    for (const at::Tensor& window : windows) longest = std::max(longest, window.numel());
    const int blocks =
        decode::blocks_for_window(static_cast<int>(longest), nn::read_decoder_config(file).context);
    decode::BatchEngine engine(decode::back_ends_of(file, {.blocks = blocks})(),
                               {.max_batch = 1, .prefix = false});
    double nats = 0, tokens = 0;
    for (std::size_t i = 0; i < windows.size(); ++i) {
        const auto ids = ids_of(windows[i]);
        nats += decode::nats_of_window(engine, ids);
        tokens += static_cast<double>(ids.size() - 1);
        recorder.progress(static_cast<double>(i + 1) / static_cast<double>(windows.size()),
                          "held-out text through the decoder");
    }
    return nats / tokens;
}

/// Other text for every seed.
DecodedText timed_text(const std::vector<at::Tensor>& windows, std::uint64_t seed) {
    const auto ids = ids_of(windows[seed % windows.size()]);
    const auto prompt = std::min(prompt_tokens, ids.size() / 2);
    const auto end = std::min(prompt + timed_tokens, ids.size() - 1);
    const auto at = [&](std::size_t i) { return ids.begin() + static_cast<std::ptrdiff_t>(i); };
    return {{at(0), at(prompt)}, {at(prompt), at(end)}};
}

/// Says what tells samples apart, but for files of the user's that have one name in two folders.
std::string kept_name(const XProduct& product) {
    const auto stem = [](const std::string& name) {
        return std::filesystem::path(name).stem().string();
    };
    std::string name = fmt::format("{}-{}", stem(product.model), to_string(product.competitor));
    if (product.competitor != Competitor::dense) {
        name += fmt::format("-{}", product.sparsity);
        if (product.recipe) name += fmt::format("-{}", to_string(*product.recipe));
    }
    name += "-" + stem(product.corpus);
    if (product.steps) name += fmt::format("-{}-steps", *product.steps);
    return name + fmt::format("-{}-seed{}.gguf", to_string(product.profile), product.seed);
}

/// Where files of samples stay when ASSAY_KEEP_MODELS names a folder.
void keep(const XProduct& product, const std::filesystem::path& file) {
    const char* const folder = std::getenv("ASSAY_KEEP_MODELS");
    if (!folder || !*folder) return;
    std::filesystem::create_directories(folder);
    const auto kept = std::filesystem::path(folder) / kept_name(product);
    const std::filesystem::path unfinished = kept.string() + ".part";
    std::filesystem::copy_file(file, unfinished, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::rename(unfinished, kept);
}

}  // namespace

void run(const XProduct& product, Recorder& recorder) {
    on_workbench(product, recorder, [&](Workbench& bench) {
        SparseModel model = make_competitor(bench, product);
        const Quality trained = measure(bench, model);
        const XProductFound found(recorder);
        record(trained, found);

        const std::filesystem::path path = std::filesystem::path(product.scratch) / "model.gguf";
        write_model(bench, model.stored, nn::TensorType::bf16, path);
        keep(product, path);
        const nn::TensorFile file(path);
        const auto windows = bench.data().held_out_batches(1, bench.sizes().evaluation_windows);
        const double nll = decoded_nll(file, windows, recorder);
        found.decoded_perplexity(std::exp(nll));
        found.decoded_gap(std::abs(nll - trained.evaluation.nll_nats_per_token));
        found.file_bytes(file.file_bytes());

        const bool small = bench.sizes().weights.empty();  // trained here: tokens take microseconds
        const DecodeTimes times =
            time_file(file, timed_text(windows, product.seed), small ? 60 : 15, !small,
                      [&](double fraction) { recorder.progress(fraction, "rounds"); });
        found.latency_s(times.seconds);
        found.tokens_per_s(1 / times.seconds);
        found.latency_ratio(times.latency_ratio);
        found.latency_saved(1 - times.latency_ratio);
        found.bytes_per_token(times.bytes_per_token);
        if (times.bound_share) found.bound_share(*times.bound_share);
    });
}

const tensors::Provided provided_product(make_product, run);

}  // namespace assay::lte
