// assay rl loss
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "impls/rl/tool/requests.hpp"
#include "impls/rl/tool/tool.hpp"
#include "suite/base/input_file.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::rl {
namespace {

using nlohmann::ordered_json;

TokenLoss loss_of(const LossRequest& request, const std::string& name) {
    try {
        return token_loss(request.rows, request.settings);
    } catch (const UserError& error) {
        throw UserError(fmt::format("{}: {}", name, error.what()));
    }
}

ordered_json to_json(const TokenLoss& loss) {
    return {{"loss", loss.loss},
            {"gradient", loss.gradient},
            {"clipped_share", loss.clipped_share},
            {"kl", loss.kl}};
}

std::string to_text(const TokenLoss& loss, bool with_kl) {
    std::string text = fmt::format("loss     {:.6g}\nclipped  {:.1f} % of the tokens\n", loss.loss,
                                   100 * loss.clipped_share);
    if (with_kl) text += fmt::format("KL       {:.6g} nats per token\n", loss.kl);
    return text;
}

class LossCommand : public Command {
  public:
    void options(CLI::App& app) override {
        app.add_flag("--json", json_, "Print JSON, with the gradient");
        app.footer(
            "Reads log-probabilities of the tokens of responses from standard input, a list for "
            "each sequence (on one line or more):\n"
            "  {\"new\":[[-0.5,-1.2],[-0.1]],\"old\":[[-0.6,-1.2],[-0.1]],\"ref\":[[-0.6,-1],[-0.2]"
            "],\n"
            "   \"mask\":[[1,1],[1]],\"advantages\":[1,-0.5],\"clip\":[0.2,0.2],\"dual_clip\":3,\n"
            "   \"kl\":{\"estimator\":\"k3\",\"coefficient\":0.01},\"aggregate\":\"token\"}\n"
            "\"ref\", \"mask\", \"dual_clip\", \"kl\" and \"max_tokens\" may be left out. Of a "
            "token with ratio r = exp(new - old) and advantage A:\n"
            "  max(-A r, -A clip(r, 1 - low, 1 + high)); with \"dual_clip\" c at most -A c where A "
            "< 0\n"
            "  plus coefficient times k1 = new - ref, or k3 = exp(ref - new) - (ref - new) - 1\n"
            "What tokens make together:\n"
            "  token     the mean over tokens\n"
            "  sequence  the mean of the sequences' means\n"
            "  constant  the sum / (sequences * \"max_tokens\")\n"
            "The gradient is that by \"new\"; where two terms are equal, the unclipped one's.\n"
            "Examples:\n"
            "  assay rl loss --json < update.json");
    }

    int run() override {
        InputFile in("standard input", "-");
        const LossRequest request = read_loss(in.text(), in.name());
        const TokenLoss loss = loss_of(request, in.name());
        std::cout << (json_ ? report::printable_dump(to_json(loss)) + '\n'
                            : to_text(loss, request.settings.kl.has_value()));
        return 0;
    }

  private:
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_loss_command() { return std::make_unique<LossCommand>(); }

}  // namespace assay::rl
