// `assay plan dr_post_training`: the update that each constraint set makes of the user's gradients,
// or what scoring costs on the user's linear maps.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "impls/dr_post_training/commands/commands.hpp"
#include "impls/dr_post_training/commands/plan_output.hpp"
#include "impls/dr_post_training/plans/gradient_file.hpp"
#include "impls/dr_post_training/plans/linear_maps.hpp"
#include "impls/dr_post_training/policy/plan.hpp"
#include "impls/model/named_models.hpp"
#include "impls/nn/files/tensor_file.hpp"
#include "suite/base/error.hpp"
#include "suite/cli/one_of.hpp"
#include "suite/report/text/terminal_text.hpp"

namespace assay::dr_post_training {
namespace {

class PlanCommand : public Command {
  public:
    void options(CLI::App& app) override {
        app.description(
            "What general data make of the target's gradient: the nearest update in a set that "
            "they span, for all layers, blocks, sublayers or each layer; which set would have "
            "served target rows it did not see. Or what scoring costs. Arithmetic; nothing is run");
        auto* gradients = app.add_option("--gradients", gradients_,
                                         "gradients of the loss, one row for each example (below); "
                                         "- reads standard input")
                              ->type_name("FILE|-");
        add_set_options(app, gradients);
        auto* linears =
            app.add_option("--linears", linears_, "linear maps, output by input size: what costs?")
                ->type_name("OxI[xCOUNT],…")
                ->excludes(gradients);
        auto* model = app.add_option("--model", model_,
                                     "the same for the linear maps of a model's blocks: GGUF or "
                                     "safetensors file, folder, or a model of `assay data`")
                          ->type_name("MODEL")
                          ->excludes(gradients)
                          ->excludes(linears);
        app.add_option(
               "--shape", shape_,
               fmt::format("the same for a known shape: {}", fmt::join(model::shape_names(), ", ")))
            ->type_name("NAME")
            ->excludes(gradients)
            ->excludes(linears)
            ->excludes(model);
        const auto size = [&](const char* name, std::string& value, const char* says) {
            return app.add_option(name, value, says)->capture_default_str()->excludes(gradients);
        };
        size("--n", n_, "rows of the general batch")->type_name("N");
        size("--m", m_, "rows of the target's")->type_name("M");
        size("--tokens", tokens_, "of a row")->type_name("T");
        size("--compress", compress_, "sizes that compressed scoring projects to")
            ->type_name("AxB");
        app.add_option("--budget-bytes", budget_, "most that scoring one map may hold, fp32")
            ->type_name("B")
            ->excludes(gradients);
        app.add_flag("--json", json_, "print JSON");
        app.footer(
            "Gradients as JSON (numbers of gradients, or their inner products):\n"
            "  {\"layers\":[{\"name\":\"up\",\"block\":\"layer0\",\"part\":\"ffn\",\n"
            "    \"gradients\":[[1,0],[0,1],[1,1]],\"target\":[[1,0.5],[0.5,1]]}],\n"
            "   \"tokens\":[12,7,9],\"sources\":[\"alpaca\",\"flan\",\"flan\"]}\n"
            "  instead of gradients and target: \"gram\":[n][n],\"scores\":[n][m],"
            "\"target_gram\":[m][m]\n"
            "or as safetensors: layer0/up/gradients [n, …] and layer0/up/target [m, …] for block "
            "layer0,\n"
            "  part ffn (query, key, value, attention_out: attention); in its metadata tokens and "
            "sources\n"
            "  as JSON lists.\n"
            "Examples:\n"
            "  assay plan dr_post_training --gradients gradients.json --compare\n"
            "  assay plan dr_post_training --gradients gradients.json --set simplex --partition "
            "global --json\n"
            "  assay plan dr_post_training --linears 576x576x60,1536x576x60 --m 2 --tokens 1024\n"
            "  assay plan dr_post_training --shape smollm2-135m --budget-bytes 100000000 --json");
    }

    int run() override {
        if (!gradients_.empty()) {
            plan_gradients();
        } else {
            plan_costs();
        }
        return 0;
    }

  private:
    void add_set_options(CLI::App& app, CLI::Option* gradients) {
        const auto option = [&](const char* name, std::string& value, const char* says) {
            return app.add_option(name, value, says)->capture_default_str()->needs(gradients);
        };
        option("--set", set_,
               "full: the mean. topk, greedy, exact: k rows. filter: without those that oppose. "
               "simplex, cone: weighted rows. subspace: any combination. ball: near the mean. "
               "halfspace: v without what opposes the mean (A-GEM). target: v")
            ->check(cli::one_of<SetKind>())
            ->type_name("NAME");
        option("--partition", partition_, "which layers choose together")
            ->check(cli::one_of<Partition>())
            ->type_name("NAME");
        auto* fraction = app.add_option("--fraction", fraction_,
                                        "share of the rows that are kept; 0.5 if left "
                                        "out")
                             ->type_name("F");
        app.add_option("--k", k_, "rows that are kept, instead of a share")
            ->excludes(fraction)
            ->type_name("K");
        option("--drop", drop_, "filter: share of the opposing rows that goes")->type_name("D");
        option("--eta", eta_, "greedy: step size of the second-order term")->type_name("E");
        option("--ridge", ridge_, "subspace: over the mean of the Gram matrix' diagonal")
            ->type_name("R");
        option("--radius", radius_, "ball: over the length of the mean gradient")->type_name("R");
        app.add_flag("--compare", compare_,
                     "every set in every partition, judged by how far one step goes for target "
                     "rows left out: advice for the next steps, not for a whole run")
            ->needs(gradients);
    }

    /// k of n rows, by --k or --fraction.
    std::size_t rows_kept(std::size_t n) const {
        if (k_.empty()) {
            const double fraction =
                fraction_.empty() ? 0.5 : parse_number("--fraction", fraction_, share);
            if (!(fraction > 0 && fraction <= 1))
                throw UserError(
                    fmt::format("--fraction {}: give a share above 0, up to 1; one row "
                                "at least is kept",
                                fraction_));
            return rows_of_fraction(fraction, n);
        }
        const double k = parse_size("--k", k_);
        if (k > static_cast<double>(n))
            throw UserError(fmt::format("--k {}: there are {} rows", k_, n));
        return static_cast<std::size_t>(k);
    }

    PlanRequest request() const {
        PlanRequest request;
        request.set = of_word<SetKind>(set_).value();
        request.partition = of_word<Partition>(partition_).value();
        request.compare = compare_;
        const auto number = [](const char* option, const std::string& text, const char* what,
                               double least, bool above, double most) {
            const double value = parse_number(option, text, what);
            if (!(above ? value > least : value >= least) || !(value <= most))
                throw UserError(fmt::format("{} {}: give {}", option, text, what));
            return value;
        };
        constexpr double any = 1e300;
        request.settings.drop = number("--drop", drop_, share, 0, false, 1);
        request.settings.eta = number("--eta", eta_, "a number above 0", 0, true, any);
        request.settings.ridge = number("--ridge", ridge_, "a number above 0", 0, true, any);
        request.settings.radius = number("--radius", radius_, "a number, 0 or more", 0, false, any);
        rows_kept(1'000'000'000);  // what is typed, before anything is read
        return request;
    }

    void plan_gradients() const {
        PlanRequest asked = request();
        const PlanInput input = read_gradients_file(gradients_, std::cin);
        asked.settings.k = rows_kept(input.rows());
        const Plan plan = make_plan(input, asked);
        std::cout << (json_ ? report::printable_dump(to_json(plan, input)) + '\n'
                            : to_text(plan, input, columns));
    }

    std::vector<LinearMap> maps() const {
        if (!linears_.empty()) return parse_linear_maps(linears_);
        if (!shape_.empty()) return linear_maps_of(model::named_shape(shape_));
        if (model_.empty())
            throw UserError(
                "give --gradients FILE, or linear maps with --linears, --model or --shape");
        return linear_maps_of(
            nn::read_decoder_config(nn::TensorFile(model::locate_file(model_, data::Kind::model))));
    }

    void plan_costs() const {
        CostSettings settings{.n = parse_size("--n", n_),
                              .m = parse_size("--m", m_),
                              .k = 1,
                              .tokens = parse_size("--tokens", tokens_)};
        settings.k = static_cast<double>(rows_kept(static_cast<std::size_t>(settings.n)));
        std::tie(settings.compressed_out, settings.compressed_in) =
            parse_sizes("--compress", compress_);
        if (!budget_.empty()) {
            settings.budget_bytes = parse_number("--budget-bytes", budget_, "bytes, 0 or more");
            if (*settings.budget_bytes < 0)
                throw UserError(fmt::format("--budget-bytes {}: give bytes, 0 or more", budget_));
        }
        const ScoringCosts costs = scoring_costs(maps(), settings);
        std::cout << (json_ ? report::printable_dump(to_json(costs)) + '\n'
                            : to_text(costs, settings, columns));
    }

    static constexpr const char* share = "a share from 0 to 1";

    std::string gradients_, linears_, model_, shape_;
    std::string set_ = "topk", partition_ = "layer";
    std::string k_, fraction_, drop_ = "1", eta_ = "1e-5", ridge_ = "1e-3", radius_ = "1";
    std::string n_ = "8", m_ = "1", tokens_ = "512", compress_ = "64x64", budget_;
    bool compare_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_plan_command() { return std::make_unique<PlanCommand>(); }

}  // namespace assay::dr_post_training
