// assay weights apply OLD FILE --out NEW
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "impls/weights/tool/tool.hpp"

namespace assay::weights {
namespace {

class ApplyCommand : public Command {
  public:
    void options(CLI::App& app) override {
        app.add_option("old", old_, "Weights before, a safetensors file in bf16")
            ->required()
            ->type_name("OLD");
        app.add_option("delta", delta_, "What `assay weights diff` wrote")
            ->required()
            ->type_name("FILE");
        app.add_option("--out", out_, "Weights after, with the header of OLD; may be OLD itself")
            ->required()
            ->type_name("NEW");
        app.add_flag("--json", json_, "Print JSON");
        app.footer(
            "Values are replaced, not added to: NEW is equal to the bit to what the delta was made "
            "of, and applying it twice is as good as once.\n\n"
            "Examples:\n"
            "  assay weights apply step-7.safetensors step-8.delta --out step-8.safetensors");
    }

    int run() override {
        check_out(out_, {delta_});
        print_size(write_updated(WeightsFile(old_), delta_, out_), json_);
        return 0;
    }

  private:
    std::string old_, delta_, out_;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_apply_command() { return std::make_unique<ApplyCommand>(); }

}  // namespace assay::weights
