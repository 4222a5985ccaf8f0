#include "impls/hetermoe/profile/profiler.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <memory>

#include "impls/hetermoe/training/cut_stages.hpp"
#include "impls/hetermoe/training/routes.hpp"
#include "impls/hetermoe/training/tensor_memory.hpp"
#include "impls/nn/accelerator.hpp"
#include "impls/nn/all_to_all.hpp"
#include "suite/base/error.hpp"
#include "suite/cluster/gloo/gloo.hpp"
#include "suite/cluster/worker_groups.hpp"
#include "suite/measure/statistics/quantile.hpp"

namespace assay::hetermoe {
namespace {

using statistics::median;
using Seconds = std::chrono::duration<double>;

Nanoseconds nanoseconds(double seconds) {
    return std::max<Nanoseconds>(1, std::llround(seconds * 1e9));
}

nn::MoeGptConfig model_of(const ProfilerSettings& settings) {
    return {.layers = settings.layers,
            .width = settings.width,
            .heads = settings.heads,
            .experts = settings.experts,
            .top_k = settings.top_k,
            .hidden = settings.hidden,
            .context = settings.tokens,
            .shape = settings.mixtral ? nn::MoeShape::mixtral : nn::MoeShape::gpt,
            .kv_heads = settings.mixtral ? settings.kv_heads : 0};
}

nn::Attention attention_of(const ProfilerSettings& settings) {
    using Kind = ProfilerSettings::Attention;
    if (!settings.attention)
        return settings.gpu ? nn::Attention::fused : nn::Attention::written_out;
    switch (*settings.attention) {
        case Kind::fused:
            return nn::Attention::fused;
        case Kind::materialised:
            return nn::Attention::materialised;
        case Kind::written_out:
            break;
    }
    return nn::Attention::written_out;
}

std::int64_t elements(const std::vector<nn::ParameterSpec>& specs) {
    std::int64_t count = 0;
    for (const auto& spec : specs) count += c10::multiply_integers(spec.shape);
    return count;
}

/// One worker of either kind, with two layers of the model: all that times hang on.
class Profiler {
  public:
    explicit Profiler(const ProfilerSettings& settings)
        : settings_(settings),
          device_(settings.gpu ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU)),
          whole_(model_of(settings)),
          model_(whole_) {
        model_.layers = 2;
        const TensorMemory::Counting counting(memory_);
        const auto before = memory_->now_bytes();
        dense_ = block("dense", nn::dense_parameters(model_));
        const auto experts = memory_->now_bytes();
        const int resident = std::max(1, settings.experts / settings.old_gpus);
        for (int i = 0; i < resident; ++i)
            experts_.push_back(block(fmt::format("expert{}", i), nn::expert_parameters(model_)));
        expert_bytes_ = (memory_->now_bytes() - experts) / resident;
        const double bytes_per_value = static_cast<double>(experts - before) /
                                       static_cast<double>(elements(nn::dense_parameters(model_)));
        dense_bytes_ = static_cast<std::int64_t>(
            bytes_per_value * static_cast<double>(elements(nn::dense_parameters(whole_))));
        tokens_ = at::randint(0, nn::MoeGptConfig::vocabulary,
                              {settings.sequences, settings.tokens + 1}, at::kLong)
                      .to(device_);
    }

    MeasuredProfile measure(const std::function<void(std::string_view)>& progress) {
        MeasuredProfile measured;
        progress("attention, gate and the last stage");
        const Stage attention = attention_times();
        progress("experts");
        const Stage expert = expert_times();
        progress("exchange");
        const double exchange = exchange_s();
        const auto sync = [&](const std::vector<nn::ParameterSpec>& specs) {
            return nanoseconds(exchange * static_cast<double>(elements(specs)) /
                               static_cast<double>(choices() * settings_.width));
        };

        auto& profile = measured.profile;
        profile.layers = settings_.layers;
        profile.experts = settings_.experts;
        profile.micro_batches = settings_.micro_batches;
        profile.new_kind = {.gpus = settings_.new_gpus,
                            .attention = nanoseconds(attention.forward_s),
                            .expert = nanoseconds(expert.forward_s),
                            .head = nanoseconds(head_s_),
                            .capacity = capacity(true)};
        profile.old_kind = profile.new_kind;
        profile.old_kind.gpus = settings_.old_gpus;
        profile.old_kind.capacity = capacity(false);
        profile.exchange = nanoseconds(exchange);
        profile.dense_sync = sync(nn::dense_parameters(whole_));
        profile.expert_sync = sync(nn::expert_parameters(whole_));
        measured.backward =
            (attention.backward_s + expert.backward_s) / (attention.forward_s + expert.forward_s);
        measured.device = device_.is_cpu() ? "cpu, one thread" : "cuda";
        measured.expert_bytes = expert_bytes_;
        measured.boundary_bytes = boundary_bytes_;
        return measured;
    }

  private:
    struct Stage {
        double forward_s = 0, backward_s = 0;
    };

    std::unique_ptr<nn::ParameterBlock> block(const std::string& name,
                                              const std::vector<nn::ParameterSpec>& specs) const {
        return std::make_unique<nn::ParameterBlock>(name, specs, model_.dtype, /*seed=*/1, device_);
    }
    at::TensorOptions options() const {
        return at::TensorOptions().dtype(model_.dtype).device(device_);
    }
    std::int64_t choices() const {
        return std::int64_t{settings_.sequences} * settings_.tokens * settings_.top_k;
    }
    at::Tensor rows_() const { return at::randn({choices(), settings_.width}, options()); }

    template <class Work>
    double seconds(Work&& work) const {
        const auto wait = [&] {
            if (!device_.is_cpu())
                c10::impl::VirtualGuardImpl(device_.type()).synchronizeDevice(device_.index());
        };
        wait();
        const auto from = std::chrono::steady_clock::now();
        work();
        wait();
        return Seconds(std::chrono::steady_clock::now() - from).count();
    }
    // Calls `once` until there is enough of it; the first time warms up.
    template <class Once>
    void repeat(Once&& once) const {
        once();
        const auto from = std::chrono::steady_clock::now();
        for (int i = 0;
             i < 5 || Seconds(std::chrono::steady_clock::now() - from).count() < settings_.seconds;
             ++i)
            once();
    }

    // The second layer of two is timed: it combines what the experts of the first gave.
    Stage attention_times() {
        const LayerHomes homes{1, std::vector<int>(static_cast<std::size_t>(settings_.experts), 1)};
        const auto outputs = rows_(), gradients = rows_();
        std::vector<double> forward, backward, head;
        repeat([&] {
            const TensorMemory::Counting counting(memory_);
            const auto before = memory_->now_bytes();
            memory_->reset_peak();
            CutStages stages(model_, *dense_, tokens_, attention_of(settings_));
            stages.forward(1, {});
            const auto first = stages.kept_bytes();
            forward.push_back(seconds([&] {
                const auto to = stages.forward(2, outputs);
                address({to.chosen, to.kept}, homes, 2).sent(to.rows);
            }));
            boundary_bytes_ = stages.kept_bytes() - first;
            head.push_back(seconds([&] { stages.forward_last(outputs); }));
            stages.backward_last(1);
            backward.push_back(seconds([&] { stages.backward(2, gradients); }));
            attention_peak_ = memory_->peak_bytes() - before;
        });
        head_s_ = median(head);
        return {median(forward), median(backward)};
    }

    // Equal shares of the rows for each expert that an old GPU has of a layer.
    Stage expert_times() {
        std::vector<const nn::ParameterBlock*> blocks;
        for (const auto& expert : experts_) blocks.push_back(expert.get());
        const auto each = static_cast<std::int64_t>(
            std::ceil(static_cast<double>(choices()) / static_cast<double>(blocks.size())));
        const LayerHomes homes{1, std::vector<int>(blocks.size(), 1)};
        const auto incoming = fixed_counts({each}, homes, 1, 2, device_);
        const HeldExperts held(blocks, model_.shape);
        const auto rows = at::randn(
            {each * static_cast<std::int64_t>(blocks.size()), settings_.width}, options());
        const auto gradients = at::randn_like(rows);
        std::vector<double> forward, backward;
        repeat([&] {
            const TensorMemory::Counting counting(memory_);
            const auto before = memory_->now_bytes();
            memory_->reset_peak();
            forward.push_back(seconds([&] { held.forward(incoming, rows); }));
            backward.push_back(seconds([&] { held.backward(incoming, rows, gradients); }));
            expert_peak_ = memory_->peak_bytes() - before;
        });
        return {median(forward), median(backward)};
    }

    // From a worker to another over Gloo, as a training's messages go; a GPU's rows by way of the
    // processor's memory.
    double exchange_s() const {
        cluster::RendezvousServer rendezvous;
        std::vector<double> times;
        const auto rank_of_two = [&](int rank) {
            cluster::WorkerGroups groups(
                rank, cluster::gloo_groups(rendezvous.port(), cluster::Seconds(60)),
                cluster::Seconds(60), std::make_shared<cluster::LinkFaults>(rank, 1));
            const auto comm = groups.connect("profile", {0, 1});
            const auto rows = rank == 0 ? rows_() : at::empty({0, settings_.width}, options());
            const std::vector<std::int64_t> none{0, 0}, all{0, choices()}, from{choices(), 0};
            const auto since = std::chrono::steady_clock::now();
            for (std::int64_t goes_on = 1; goes_on != 0;) {
                comm->barrier();
                const double took = seconds([&] {
                    nn::exchange_rows(rows.cpu(), rank == 0 ? all : none, rank == 0 ? none : from,
                                      *comm)
                        .to(device_);
                });
                if (rank == 1) times.push_back(took);
                // Rank 1 knows when it was the last.
                if (rank == 1)
                    goes_on = times.size() < 5 ||
                              Seconds(std::chrono::steady_clock::now() - since).count() <
                                  settings_.seconds;
                comm->broadcast(&goes_on, 1, cluster::Dtype::i64, 1);
            }
        };
        auto peer = std::async(std::launch::async, [&] { rank_of_two(0); });
        rank_of_two(1);
        peer.get();
        return median(times);
    }

    // Experts of all layers that fit beside what the kind keeps and its largest task needs. An old
    // GPU has the rows of more than one new one where those are more.
    std::optional<std::int64_t> capacity(bool of_new_kind) const {
        if (!settings_.memory) return std::nullopt;
        const std::int64_t micro_batches = settings_.micro_batches.back();
        const auto row_bytes = static_cast<std::int64_t>(rows_().nbytes());
        const std::int64_t old = settings_.old_gpus;
        const std::int64_t most = std::max<std::int64_t>(settings_.new_gpus, old);
        const auto of_old = [&](std::int64_t bytes) { return (bytes * most + old - 1) / old; };
        const std::int64_t kept =
            micro_batches * settings_.layers * (of_new_kind ? boundary_bytes_ : of_old(row_bytes));
        const std::int64_t state = of_new_kind ? dense_bytes_ : 0;
        const std::int64_t task = of_new_kind ? attention_peak_ : of_old(expert_peak_);
        return std::max<std::int64_t>(0, *settings_.memory - kept - state - task) / expert_bytes_;
    }

    const ProfilerSettings& settings_;
    at::Device device_;
    nn::MoeGptConfig whole_, model_;
    std::shared_ptr<TensorMemory> memory_ = std::make_shared<TensorMemory>();
    std::unique_ptr<nn::ParameterBlock> dense_;
    std::vector<std::unique_ptr<nn::ParameterBlock>> experts_;
    at::Tensor tokens_;
    double head_s_ = 0;
    std::int64_t dense_bytes_ = 0, expert_bytes_ = 0, boundary_bytes_ = 0;
    std::int64_t attention_peak_ = 0, expert_peak_ = 0;
};

}  // namespace

MeasuredProfile measure_profile(const ProfilerSettings& settings,
                                const std::function<void(std::string_view)>& progress) {
    if (settings.gpu)
        if (const auto reason = nn::gpu_missing()) throw NotSupportedHere(*reason);
    at::set_num_threads(1);  // as a training's workers have it
    return Profiler(settings).measure(progress);
}

namespace {
const tensors::Provided provided(profiler, measure_profile);
}

}  // namespace assay::hetermoe
