#include "impls/foundry/live/struck_engine.hpp"

#include <filesystem>
#include <optional>
#include <utility>

#include "impls/foundry/driver/fake/control.hpp"
#include "impls/foundry/live/damage.hpp"

namespace assay::foundry {
namespace {

class StruckEngine final : public Engine {
  public:
    StruckEngine(std::unique_ptr<Engine> engine, const EngineSettings& settings,
                 drive::Strike strike)
        : engine_(std::move(engine)),
          driver_(open_driver(settings.driver)),
          strike_(std::move(strike)),
          draw_(settings.step.seed) {}

    std::string save(const std::string& archive) override {
        strike_gpu();
        std::string why = engine_->save(archive);
        if (why.empty() && strike_(FaultKind::torn)) cut_short(archive, draw_);
        return why;
    }
    std::string open(const Open& open) override {
        strike_gpu();
        // Others may have the archive open: what this one sees is a copy.
        std::optional<DamagedCopy> copy;
        Open opened = open;
        for (std::string& archive : opened.archives)
            if (!copy && std::filesystem::exists(archive) && strike_(FaultKind::corrupt))
                archive = copy.emplace(archive, draw_).path().string();
        return engine_->open(opened);
    }
    std::string make(const Executables::Task& task) override {
        strike_gpu();
        return engine_->make(task);
    }
    std::variant<std::uint64_t, NoResult> decode(int request, std::size_t graph,
                                                 bool plain) override {
        strike_gpu();
        return engine_->decode(request, graph, plain);
    }
    std::vector<std::size_t> group_of() const override { return engine_->group_of(); }
    double take_seconds() override { return engine_->take_seconds(); }

  private:
    void strike_gpu() {
        if (strike_(FaultKind::gpu_error))
            fake::FakeControl(*driver_).lose_context(CUDA_ERROR_ECC_UNCORRECTABLE);
    }

    std::unique_ptr<Engine> engine_;
    std::shared_ptr<const Driver> driver_;
    drive::Strike strike_;
    Draw draw_;
};

}  // namespace

std::unique_ptr<Engine> make_struck_engine(std::unique_ptr<Engine> engine,
                                           const EngineSettings& settings, drive::Strike strike) {
    return std::make_unique<StruckEngine>(std::move(engine), settings, std::move(strike));
}

}  // namespace assay::foundry
