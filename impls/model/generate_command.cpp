// assay model generate FILE --prompt TEXT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "impls/decode/back_ends.hpp"
#include "impls/decode/requests/token_texts.hpp"
#include "impls/model/generation.hpp"
#include "impls/model/named_models.hpp"
#include "impls/model/new_text.hpp"
#include "impls/model/prompt.hpp"
#include "impls/model/tool.hpp"
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
        auto* const prompt =
            app.add_option("--prompt", prompt_, "Text to continue; -: standard input");
        app.add_option("--ids", ids_, "Token ids to continue: 1,504,3575; -: standard input")
            ->excludes(prompt)
            ->type_name("IDS");
        app.add_flag("--chat", chat_, "Put the prompt into the model's chat template")
            ->needs(prompt);
        app.add_option("--max-tokens", max_tokens_, "At most so many new tokens")
            ->capture_default_str()
            ->check(CLI::Range(1, 1 << 24))
            ->type_name("N");
        app.add_option("--stop", stops_,
                       "The text ends before this string; more by giving the option again")
            ->allow_extra_args(false)
            ->type_name("TEXT");
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
            "Nothing is added in front of a prompt, and all of it is text: control tokens\n"
            "(<|im_end|>) stand only where --chat puts them. Standard input is taken without the\n"
            "line end at its end. The new text ends with a token that the model's files name for\n"
            "that, or with the one that completes a --stop. Afterwards the speed is reported\n"
            "against the bytes-moved bound: memory bandwidth, measured then, over the bytes a\n"
            "token reads.\n"
            "Examples:\n"
            "  assay model generate smollm2-135m-instruct --prompt 'The capital of France is'\n"
            "  assay model generate smollm2-135m-instruct --chat --prompt 'Who was Ada Lovelace?'\n"
            "  assay model generate model.gguf --ids 1,504,3575 --max-tokens 15 --json\n"
            "  assay model generate model.gguf --prompt - --stop . --stop '?' <prompt.txt");
    }

    int run() override {
        decode::BatchRequest request;
        request.max_tokens = max_tokens_;
        request.sampling = sampling_;
        request.sampling.seed = parse_seed(seed_);
        check(request.sampling);  // refuses what makes no sense before the weights are read
        const std::string prompt = given_text("--prompt", prompt_);
        if (prompt.empty() && ids_.empty()) throw UserError("give --prompt TEXT or --ids 1,504,…");
        const nn::TensorFile file(locate_file(file_, data::Kind::model));
        const nn::DecoderConfig config = nn::read_decoder_config(file);
        const FoundTokenizer found = find_tokenizer(file);
        if (!found.tokenizer && (ids_.empty() || !stops_.empty()))
            throw UserError(
                fmt::format("{}; without a tokenizer give --ids, and no --stop", found.why_not));
        request.prompt = ids_.empty() ? prompt_ids(file, *found.tokenizer, prompt, chat_)
                                      : parse_ids(given_text("--ids", ids_));
        request.stops = stops_;
        request.stop_ids = nn::text_ends(file, found.get(), config.vocabulary);
        std::optional<NewText> text;
        if (found.tokenizer) text.emplace(*found.tokenizer, request.stop_ids, stops_);
        decode::BatchEngine engine(
            decode::back_ends_of(file, engine_options(config.context, request.prompt.size()))(),
            {.max_batch = 1, .prefix = false}, decode::texts_of(found.tokenizer));
        const Generation result =
            generate(engine, request, text ? &*text : nullptr, [&](std::string_view piece) {
                if (json_) return;
                cli::write_output("-", piece);
                std::cout << std::flush;
            });
        report(result);
        return 0;
    }

  private:
    decode::BackEndOptions engine_options(int context, std::size_t prompt) const {
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
        if (result.finish == decode::Finish::context)
            std::cerr << "The model's context is full: the text ends here." << std::endl;
    }

    std::string file_, prompt_, ids_, seed_ = "1", weights_ = "stored";
    std::vector<std::string> stops_;
    decode::Sampling sampling_;
    int max_tokens_ = 128, threads_ = 0;
    bool chat_ = false, json_ = false, bandwidth_ = false;
};

}  // namespace

std::unique_ptr<Command> make_generate_command() { return std::make_unique<GenerateCommand>(); }

}  // namespace assay::model
