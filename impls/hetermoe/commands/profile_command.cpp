// assay calibrate hetermoe.
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "impls/hetermoe/commands/commands.hpp"
#include "impls/hetermoe/profile/profile_file.hpp"
#include "impls/hetermoe/profile/profiler.hpp"
#include "suite/base/durable_file.hpp"
#include "suite/base/error.hpp"

namespace assay::hetermoe {
namespace {

constexpr double gib = 1 << 30;

MeasuredProfile measured(const ProfilerSettings& settings) {
    const bool watched = isatty(STDERR_FILENO) == 1;
    return profiler(settings, [&](std::string_view what) {
        if (watched) std::cerr << fmt::format("measuring {}\n", what);
    });
}

TrainingProfile profile_in(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream)
        throw UserError(fmt::format(
            "--old-from {}: it cannot be read; give a profile that this command wrote", file));
    return read_profile(std::string(std::istreambuf_iterator<char>(stream), {}), file);
}

class ProfileCommand : public Command {
  public:
    void options(CLI::App& app) override {
        app.description(
            "Time attention, experts and exchanges of a model here, with the tasks of the training "
            "itself: the profile that `assay plan hetermoe --profile` takes");
        const auto count = [&](const char* name, int& value, const char* says,
                               int most = most_of_a_count) {
            app.add_option(name, value, says)
                ->capture_default_str()
                ->check(CLI::Range(1, most))
                ->type_name("N");
        };
        app.add_option("--shape", shape_, "of the layers: gpt, or mixtral")
            ->capture_default_str()
            ->check(CLI::IsMember({"gpt", "mixtral"}))
            ->type_name("NAME");
        auto& model = settings_;
        count("--layers", model.layers, "each with experts");
        count("--width", model.width, "of the model", 1 << 16);
        count("--heads", model.heads, "of attention; divide the width");
        count("--kv-heads", model.kv_heads, "mixtral: for keys and values; divide the heads");
        count("--experts", model.experts, "of a layer");
        count("--top-k", model.top_k, "experts of a token");
        count("--hidden", model.hidden, "width inside an expert", 1 << 16);
        count("--tokens", model.tokens, "of a sequence", 1 << 16);
        count("--sequences", model.sequences, "of a micro-batch");
        app.add_option("--micro-batches", model.micro_batches, "numbers of them to plan with")
            ->capture_default_str()
            ->delimiter(',')
            ->check(CLI::Range(1, most_of_a_count))
            ->type_name("R,R");
        count("--new", model.new_gpus, "new workers that there are");
        count("--old", model.old_gpus, "old workers that there are");
        app.add_option("--old-from", old_from_,
                       "take the old workers' times and capacity from this profile, which the same "
                       "command wrote on a machine that has one")
            ->type_name("FILE");
        app.add_option("--device", device_, "cpu (one thread, as workers have it) or cuda")
            ->capture_default_str()
            ->check(CLI::IsMember({"cpu", "cuda"}))
            ->type_name("NAME");
        app.add_option("--attention", attention_,
                       "how it is computed: fused (cuda: unless told), materialised (scores in "
                       "memory: a GPU without fused kernels) or written_out (cpu: unless told)")
            ->check(CLI::IsMember({"fused", "materialised", "written_out"}))
            ->type_name("NAME");
        app.add_option("--memory", memory_gib_,
                       "of a worker, GiB: limits the experts it holds (no limit)")
            ->check(CLI::Range(0.001, 1e6))
            ->type_name("GIB");
        app.add_option("--seconds", model.seconds, "at least so long for each time; medians count")
            ->capture_default_str()
            ->check(CLI::Range(0.001, 600.0))
            ->type_name("S");
        app.add_option("-o,--output", output_, "where the profile goes (standard output)")
            ->type_name("FILE");
        app.add_flag("--json", json_,
                     "print JSON: \"profile\" (the TOML text), \"backward\", \"device\", "
                     "\"expert_bytes\", \"boundary_bytes\"");
        app.footer(
            "Both kinds are this device, unless --old-from says otherwise: run it on a machine of "
            "each kind.\n"
            "Examples:\n"
            "  assay calibrate hetermoe --new 2 --old 2 | assay plan hetermoe --profile -\n"
            "  assay calibrate hetermoe --shape mixtral --new 2 --old 4 -o old.toml\n"
            "  assay calibrate hetermoe --shape mixtral --new 2 --old 4 --old-from old.toml -o "
            "gpus.toml");
    }

    int run() override {
        const ProfilerSettings settings = checked();
        const auto old = old_from_.empty() ? std::nullopt : std::optional(profile_in(old_from_));
        if (old && (old->layers != settings.layers || old->experts != settings.experts))
            throw UserError(fmt::format(
                "--old-from {}: it is of {} layers of {} experts, not of "
                "{} of {}; measure the same model",
                old_from_, old->layers, old->experts, settings.layers, settings.experts));
        if (!output_.empty())
            if (const std::string why = missing_folder(output_); !why.empty())
                throw UserError(fmt::format("-o: {}", why));
        MeasuredProfile found = measured(settings);
        if (old) {
            found.profile.old_kind = old->old_kind;
            found.profile.old_kind.gpus = settings.old_gpus;
        }
        const std::string toml = text(found);
        if (!output_.empty()) std::ofstream(output_) << toml;
        if (json_)
            std::cout << nlohmann::json{{"profile", toml},
                                        {"backward", found.backward},
                                        {"device", found.device},
                                        {"expert_bytes", found.expert_bytes},
                                        {"boundary_bytes", found.boundary_bytes}}
                             .dump()
                      << '\n';
        else if (output_.empty())
            std::cout << toml;
        return 0;
    }

  private:
    ProfilerSettings checked() const {
        ProfilerSettings settings = settings_;
        settings.mixtral = shape_ == "mixtral";
        settings.gpu = device_ == "cuda";
        using Attention = ProfilerSettings::Attention;
        if (attention_ == "fused") settings.attention = Attention::fused;
        if (attention_ == "materialised") settings.attention = Attention::materialised;
        if (attention_ == "written_out") settings.attention = Attention::written_out;
        if (memory_gib_ > 0) settings.memory = static_cast<std::int64_t>(memory_gib_ * gib);
        auto& batches = settings.micro_batches;
        std::sort(batches.begin(), batches.end());
        batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
        // NaN passes every range.
        if (std::isnan(settings.seconds) || std::isnan(memory_gib_))
            throw UserError("--seconds and --memory are numbers, not nan");
        const int per_head = settings.mixtral ? 2 * settings.heads : settings.heads;
        if (settings.width % per_head != 0)
            throw UserError(fmt::format("--width {} is not a multiple of {}{}", settings.width,
                                        per_head, settings.mixtral ? ", twice the heads" : ""));
        if (settings.mixtral && settings.heads % settings.kv_heads != 0)
            throw UserError(fmt::format("--kv-heads {} does not divide the {} heads",
                                        settings.kv_heads, settings.heads));
        if (settings.top_k >= settings.experts)
            throw UserError(fmt::format("--top-k {}: there are {} experts, and not all are chosen",
                                        settings.top_k, settings.experts));
        return settings;
    }

    std::string text(const MeasuredProfile& found) const {
        return fmt::format(
            "# assay calibrate hetermoe: {} shape, width {}, hidden {}, top {}, {} tokens, {} "
            "sequences a micro-batch; {}\n"
            "# backward takes {:.2f} times as long: assay plan hetermoe --backward {:.2f}\n{}",
            shape_, settings_.width, settings_.hidden, settings_.top_k, settings_.tokens,
            settings_.sequences, found.device, found.backward, found.backward,
            to_toml(found.profile));
    }

    ProfilerSettings settings_;
    std::string shape_ = "gpt", device_ = "cpu", attention_, old_from_, output_;
    double memory_gib_ = 0;
    bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_profile_command() { return std::make_unique<ProfileCommand>(); }

}  // namespace assay::hetermoe
