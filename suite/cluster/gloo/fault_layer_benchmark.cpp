// What the fault layer costs when nothing is wrong: all-to-all of equal parts among four processes
// over Gloo, plain, behind a layer without checksums, and behind one with them.
//
//     build/cpu/bin/cluster_fault_layer_benchmark
//
// All variants use the same group and take turns, in an order that changes from round to round. The
// time is the median of the plain exchanges. Counters, medians over the rounds of the time in
// relation to the plain exchange of the same round: layer (and the ends of its 95 %
// interval), checked, and control (a second plain exchange: how far from 1 a ratio may be by
// chance). Goal: layer under 1.02.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "suite/cluster/faults/fault_layer.hpp"
#include "suite/cluster/gloo/gloo.hpp"
#include "suite/cluster/pacer.hpp"
#include "suite/cluster/processes/supervisor.hpp"

namespace {

using namespace assay::cluster;
using nlohmann::json;

constexpr int kProcesses = 4;
constexpr double kGiveUpAfter_s = 120;
enum Variant { plain, layer, checked, control, kVariants };

/// Rounds begin here and go on by one each: in four rounds every variant comes once in every place
/// and once after each of the others (a Williams design).
constexpr std::array<int, kVariants> kOrder{0, 1, 3, 2};

/// Somebody else's communicator, so that several layers can share it.
class Borrowed final : public Communicator {
  public:
    explicit Borrowed(Communicator& owner) : owner_(owner) {}
    int rank() const override { return owner_.rank(); }
    int size() const override { return owner_.size(); }
    void all_to_all_v(const void* send, std::span<const std::int64_t> send_counts, void* recv,
                      std::span<const std::int64_t> recv_counts, Dtype dtype) override {
        owner_.all_to_all_v(send, send_counts, recv, recv_counts, dtype);
    }
    std::vector<std::span<const std::byte>> exchange_messages(
        std::span<const Message> messages) override {
        return owner_.exchange_messages(messages);
    }
    void all_gather(const void* send, std::size_t count, void* recv, Dtype dtype) override {
        owner_.all_gather(send, count, recv, dtype);
    }
    void all_reduce_sum(void* data, std::size_t count, Dtype dtype) override {
        owner_.all_reduce_sum(data, count, dtype);
    }
    void broadcast(void* data, std::size_t count, Dtype dtype, int root) override {
        owner_.broadcast(data, count, dtype, root);
    }
    void send(const void* data, std::size_t count, Dtype dtype, int to) override {
        owner_.send(data, count, dtype, to);
    }
    void recv(void* data, std::size_t count, Dtype dtype, int from) override {
        owner_.recv(data, count, dtype, from);
    }
    void barrier() override { owner_.barrier(); }
    void abort(const std::string& why) noexcept override { owner_.abort(why); }
    std::unique_ptr<Communicator> shrink(std::span<const int> survivors,
                                         const std::string& key) override {
        return owner_.shrink(survivors, key);
    }

  private:
    Communicator& owner_;
};

/// Seconds of every exchange: [round][variant].
json exchange(Communicator& group, std::int64_t bytes_per_peer, int rounds) {
    std::vector<WorkerId> names(kProcesses);
    std::iota(names.begin(), names.end(), 0);
    const auto faults = std::make_shared<LinkFaults>(names[group.rank()], 1);
    const auto behind = [&](bool checksums) {
        return make_fault_layer(std::make_unique<Borrowed>(group), names, faults,
                                {.checksums = checksums});
    };
    const auto layered = behind(false), with_checksums = behind(true);
    const auto once = std::make_unique<Borrowed>(group), again = std::make_unique<Borrowed>(group);
    const std::array<Communicator*, kVariants> variants{once.get(), layered.get(),
                                                        with_checksums.get(), again.get()};

    const std::vector<std::int64_t> counts(kProcesses, bytes_per_peer / 4);
    std::vector<float> out(kProcesses * counts[0], 1.5f), in(out.size());
    json all = json::array();
    for (int round = 0; round < rounds; ++round) {
        std::array<double, kVariants> seconds{};
        for (int turn = 0; turn < kVariants; ++turn) {
            const int variant = (kOrder[turn] + round) % kVariants;
            group.barrier();
            const double start_s = monotonic_s();
            variants[variant]->all_to_all_v(out.data(), counts, in.data(), counts, Dtype::f32);
            seconds[variant] = monotonic_s() - start_s;
        }
        all.push_back(seconds);
    }
    return all;
}

int run_worker(WorkerId self, ControlChannel& control, const json& config) {
    GlooContext gloo({.port = config.at("port"), .timeout = std::chrono::seconds(60)});
    control.start(Seconds(0.1));
    const auto group = gloo.make_group("overhead", self, kProcesses);
    while (const auto message = control.receive()) {
        json seconds = exchange(*group, message->at("bytes"), message->at("rounds"));
        control.send(self == 0 ? json{{"seconds", std::move(seconds)}} : json{{"done", self}});
    }
    return 0;
}

/// The processes, waiting for what to exchange.
class Exchange {
  public:
    Exchange() : supervisor_(make_fork_server(run_worker), {.heartbeat_timeout = Seconds(30)}) {
        rendezvous_.emplace();
        for (int i = 0; i < kProcesses; ++i) supervisor_.spawn({{"port", rendezvous_->port()}});
    }

    std::vector<std::array<double, kVariants>> run(std::int64_t bytes, int rounds) {
        supervisor_.send(supervisor_.alive(), {{"bytes", bytes}, {"rounds", rounds}});
        std::vector<std::array<double, kVariants>> seconds;
        const double deadline_s = supervisor_.now_s() + kGiveUpAfter_s;
        for (int answers = 0; answers < kProcesses;) {
            if (supervisor_.now_s() > deadline_s) throw std::runtime_error("no answer came");
            const auto event = supervisor_.next(Seconds(0.1));
            if (!event) continue;
            if (const auto* died = std::get_if<WorkerDied>(&*event)) {
                throw std::runtime_error(fmt::format("worker {}: {}", died->worker, died->how));
            }
            if (const auto* message = std::get_if<WorkerMessage>(&*event)) {
                ++answers;
                if (message->worker == 0) message->body.at("seconds").get_to(seconds);
            }
        }
        return seconds;
    }

  private:
    Supervisor supervisor_;
    std::optional<RendezvousServer> rendezvous_;
};

Exchange* processes = nullptr;

struct Median {
    double value, low, high;  ///< with its 95 % interval, by order statistics
};

Median median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const double n = double(values.size()), reach = 1.96 * std::sqrt(n) / 2;
    const auto at = [&](double rank) { return values[std::size_t(std::clamp(rank, 0.0, n - 1))]; };
    return {at(n / 2), at(n / 2 - reach), at(n / 2 + reach)};
}

void all_to_all_overhead(benchmark::State& state) {
    std::vector<std::array<double, kVariants>> rounds;
    for (auto _ : state) {
        processes->run(state.range(0), 8);  // the first touch of every page
        rounds = processes->run(state.range(0), static_cast<int>(state.range(1)));
        std::vector<double> plain_s;
        for (const auto& seconds : rounds) plain_s.push_back(seconds[plain]);
        state.SetIterationTime(median(plain_s).value);
    }
    const auto ratio = [&](Variant variant) {
        std::vector<double> ratios;
        for (const auto& seconds : rounds) ratios.push_back(seconds[variant] / seconds[plain]);
        return median(std::move(ratios));
    };
    const Median overhead = ratio(layer);
    state.counters["layer"] = overhead.value;
    state.counters["layer_low"] = overhead.low;
    state.counters["layer_high"] = overhead.high;
    state.counters["checked"] = ratio(checked).value;
    state.counters["control"] = ratio(control).value;
}

BENCHMARK(all_to_all_overhead)
    ->ArgNames({"bytes_per_peer", "rounds"})
    ->Args({1 << 10, 4000})
    ->Args({64 << 10, 4000})
    ->Args({1 << 20, 600})
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond)
    ->Iterations(1);

}  // namespace

int main(int argc, char** argv) {
    // First of all: the fork server inside wants a process without threads.
    Exchange exchange;
    processes = &exchange;
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
