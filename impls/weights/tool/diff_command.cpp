// assay weights diff OLD NEW --out FILE
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "impls/weights/tool/tool.hpp"

namespace assay::weights {
namespace {

class DiffCommand : public Command {
  public:
    void options(CLI::App& app) override {
        app.add_option("old", old_, "Weights before, a safetensors file in bf16")
            ->required()
            ->type_name("OLD");
        app.add_option("new", new_, "Weights after, of the same names and shapes")
            ->required()
            ->type_name("NEW");
        app.add_option("--out", out_, "The delta file")->required()->type_name("FILE");
        app.add_flag("--json", json_, "Print JSON");
        app.footer(
            "The file holds a header of 16 bytes (u64 changed elements, u16 bytes of an element, "
            "u16 flags, i32 0; little-endian), the offsets of the changed elements, ascending, and "
            "their new values. Offsets count through all tensors by name in byte order; they have "
            "32 bits, and 64 (flag 1) where the weights have more than 2^32 - 1 elements.\n\n"
            "Examples:\n"
            "  assay weights diff step-7.safetensors step-8.safetensors --out step-8.delta\n"
            "  assay weights diff step-7.safetensors step-8.safetensors --out step-8.delta --json");
    }

    int run() override {
        check_out(out_, {old_, new_});
        print_size(write_delta(WeightsFile(old_), WeightsFile(new_), out_), json_);
        return 0;
    }

  private:
    std::string old_, new_, out_;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_diff_command() { return std::make_unique<DiffCommand>(); }

}  // namespace assay::weights
