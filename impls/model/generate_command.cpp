// assay model generate FILE --prompt TEXT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "impls/decode/back_ends.hpp"
#include "impls/model/generation.hpp"
#include "impls/model/named_models.hpp"
#include "impls/model/tool.hpp"
#include "impls/nn/text/chat.hpp"
#include "kernels/cpu/streamed_memory.hpp"
#include "suite/cli/one_of.hpp"
#include "suite/cli/terminal/output.hpp"
#include "suite/experiment/value.hpp"

namespace assay::model {
namespace {

class GenerateCommand : public Command {
  public:
    void options(CLI::App& app) override {
        app.add_option("file", file_, "GGUF or safetensors file, folder, or data set")
            ->required()
            ->type_name("FILE");
        auto* const prompt = app.add_option("--prompt", prompt_, "Text to continue");
        app.add_option("--ids", ids_, "Token ids to continue: 1,504,3575")
            ->excludes(prompt)
            ->type_name("IDS");
        app.add_flag("--chat", chat_, "Put the prompt into the model's chat template")
            ->needs(prompt);
        app.add_option("--max-tokens", max_tokens_, "At most so many new tokens")
            ->capture_default_str()
            ->check(CLI::Range(1, 1 << 24))
            ->type_name("N");
        app.add_option("--temperature", sampling_.temperature, "0: the likeliest token each time")
            ->capture_default_str()
            ->type_name("T");
        app.add_option("--top-k", sampling_.top_k, "Sample among the K likeliest; 0: all")
            ->capture_default_str()
            ->type_name("K");
        app.add_option("--top-p", sampling_.top_p,
                       "Sample among the fewest tokens of this share together")
            ->capture_default_str()
            ->type_name("P");
        app.add_option("--seed", seed_, "Seed of the sampling")
            ->capture_default_str()
            ->type_name("N");
        app.add_option("--weights", weights_, "stored (as in the file), f32 or bf16")
            ->capture_default_str()
            ->check(cli::one_of<decode::WeightType>())
            ->type_name("TYPE");
        app.add_option("--threads", threads_, "CPU threads; 0: all cores")
            ->check(CLI::Range(0, 1024))
            ->type_name("N");
        app.add_flag("--json", json_, "Print JSON");
        app.add_flag("--bandwidth", bandwidth_,
                     "With --json: add the key \"bandwidth\", decoding against the bytes it moves");
        app.footer(
            "Nothing is added in front of a prompt. Afterwards the speed is reported against the\n"
            "bytes-moved bound: memory bandwidth, measured then, over the bytes a token reads.\n"
            "Examples:\n"
            "  assay model generate smollm2-135m-instruct --prompt 'The capital of France is'\n"
            "  assay model generate smollm2-135m-instruct --chat --prompt 'Who was Ada Lovelace?'\n"
            "  assay model generate model.gguf --ids 1,504,3575 --max-tokens 15 --json");
    }

    int run() override {
        if (prompt_.empty() && ids_.empty()) throw UserError("give --prompt TEXT or --ids 1,504,…");
        sampling_.seed = parse_seed(seed_);
        check(sampling_);  // refuses what makes no sense before the weights are read
        const nn::TensorFile file(locate_file(file_, data::Kind::model));
        const std::optional<nn::Tokenizer> tokenizer = tokenizer_of(file);
        const std::vector<int> prompt = prompt_ids(file, tokenizer);
        decode::BatchEngine engine(
            decode::back_ends_of(file, engine_options(file, prompt.size()))(),
            {.max_batch = 1, .prefix = false});
        const Generation result = generate(engine, tokenizer ? &*tokenizer : nullptr, prompt,
                                           max_tokens_, sampling_, [&](std::string_view text) {
                                               if (!json_) std::cout << text << std::flush;
                                           });
        report(result);
        return 0;
    }

  private:
    std::optional<nn::Tokenizer> tokenizer_of(const nn::TensorFile& file) const {
        try {
            return nn::Tokenizer::of(file);
        } catch (const UserError& error) {
            if (ids_.empty())
                throw UserError(fmt::format("{}; without a tokenizer give --ids", error.what()));
            return std::nullopt;
        }
    }

    std::vector<int> prompt_ids(const nn::TensorFile& file,
                                const std::optional<nn::Tokenizer>& tokenizer) const {
        if (!ids_.empty()) return parse_ids(ids_);
        if (!chat_) return tokenizer->encode(prompt_);
        const auto system = nn::chat_default_system(file);
        if (!system)
            throw UserError(file_ +
                            ": the model has no chat template of a known kind (ChatML); "
                            "leave --chat out");
        const nn::ChatMessage message{"user", prompt_};
        return tokenizer->encode(nn::chat_prompt({&message, 1}, *system), true);
    }

    decode::BackEndOptions engine_options(const nn::TensorFile& file, std::size_t prompt) const {
        const int context = nn::read_decoder_config(file).context;
        if (prompt > static_cast<std::size_t>(context))
            throw UserError(fmt::format(
                "the prompt has {} tokens, more than the model's context of {}; shorten it", prompt,
                context));
        decode::BackEndOptions options;
        options.model.weights = of_word<decode::WeightType>(weights_).value();
        options.threads = threads_;
        options.blocks = decode::least_blocks(static_cast<int>(prompt), max_tokens_, context);
        return options;
    }

    void report(const Generation& result) const {
        const bool wanted = !json_ || bandwidth_;
        const auto bound = wanted && result.decode_steps > 0
                               ? against_bound(result, kernels::measured_read_bandwidth(threads_))
                               : std::nullopt;
        if (json_) {
            nlohmann::json json = to_json(result);
            if (bandwidth_) json["bandwidth"] = bound ? to_json(*bound) : nlohmann::json();
            return cli::print_json(json);
        }
        if (result.text)
            std::cout << std::endl;
        else
            std::cout << fmt::format("{}", fmt::join(result.ids, ",")) << std::endl;
        std::cerr << fmt::format("prompt  {} tokens in {:.3f} s ({:.0f} tokens/s)\n",
                                 result.prompt_ids.size(), result.prefill_s,
                                 static_cast<double>(result.prompt_ids.size()) / result.prefill_s);
        if (bound)
            std::cerr << fmt::format(
                "decode  {} tokens in {:.3f} s ({:.1f} tokens/s), {:.0f} % of the {:.1f} tokens/s "
                "that reading {:.1f} MB per token at {:.1f} GB/s allows\n",
                result.decode_steps, result.decode_s, bound->tokens_per_s, 100 * bound->share(),
                bound->bound_tokens_per_s, static_cast<double>(result.bytes_per_token) / 1e6,
                bound->read_bytes_per_s / 1e9);
        if (result.context_full)
            std::cerr << "The model's context is full: the text ends here." << std::endl;
    }

    std::string file_, prompt_, ids_, seed_ = "1", weights_ = "stored";
    decode::Sampling sampling_;
    int max_tokens_ = 128, threads_ = 0;
    bool chat_ = false, json_ = false, bandwidth_ = false;
};

}  // namespace

std::unique_ptr<Command> make_generate_command() { return std::make_unique<GenerateCommand>(); }

}  // namespace assay::model
