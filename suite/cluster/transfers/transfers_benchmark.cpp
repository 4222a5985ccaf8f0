// How close transfers come to what their limits allow: one object of 64 MiB from one port to k
// others at once, from memory and from a file (sendfile), each measured from the order to the last
// arrival.
//
//     build/cpu/bin/cluster_transfers_benchmark
//
// Arguments: file (0: memory), receivers k, and the limits B_send of the sender's NIC and B_recv of
// each receiver's in MB/s (0: none). Counters: over_ideal, the time over max(S / B_recv,
// k * S / B_send), goal at most 1.10, and its worst of all rounds; MB_per_s, of one receiver. All
// ports live in this process: without limits they share its cores, as on a machine of that size.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <vector>

#include "suite/cluster/pacer.hpp"
#include "suite/cluster/transfers/transfer_port.hpp"

namespace {

using namespace assay;
using namespace assay::cluster;

constexpr std::size_t kBytes = std::size_t{64} << 20;

std::vector<std::byte> random_content() {
    std::vector<std::byte> content(kBytes);
    std::mt19937_64 random(1);
    for (std::byte& byte : content) byte = std::byte(random());
    return content;
}

/// The object in a file that has no name any more.
Bytes in_file(const std::vector<std::byte>& content) {
    std::string name = (std::filesystem::temp_directory_path() / "assay-transfer-XXXXXX").string();
    const FileDescriptor made(check_call(::mkstemp(name.data()), "temporary file"));
    std::ofstream(name, std::ios::binary)
        .write(reinterpret_cast<const char*>(content.data()), std::streamsize(content.size()));
    const Bytes bytes = Bytes::of_file(name);
    std::filesystem::remove(name);
    return bytes;
}

/// Counts arrivals; what breaks ends the program.
class Arrived {
  public:
    TransferEvents events() {
        return {[this](std::uint64_t) {
                    std::lock_guard lock(mutex_);
                    ++count_;
                    came_.notify_all();
                },
                [](std::uint64_t id, std::uint64_t, const std::string& why) {
                    std::fprintf(stderr, "transfer %llu: %s\n", (unsigned long long)id,
                                 why.c_str());
                    std::abort();
                }};
    }
    void wait_for(std::size_t count) {
        std::unique_lock lock(mutex_);
        came_.wait(lock, [&] { return count_ >= count; });
    }

  private:
    std::mutex mutex_;
    std::condition_variable came_;
    std::size_t count_ = 0;
};

std::unique_ptr<TransferPort> make_port(WorkerId self, NicLimits nic, Arrived& arrived) {
    return std::make_unique<TransferPort>(
        TransferPortOptions{
            .self = self, .links = std::make_shared<LinkFaults>(self, 1), .nic = nic},
        arrived.events());
}

void transfer(benchmark::State& state) {
    const auto receivers = static_cast<std::size_t>(state.range(1));
    const double send = 1e6 * double(state.range(2)), receive = 1e6 * double(state.range(3));
    const std::vector<std::byte> content = random_content();
    const Bytes object = state.range(0) ? in_file(content) : Bytes::of(content);
    Arrived arrived;
    const auto sender = make_port(0, {.send_bytes_s = send}, arrived);
    sender->offer("weights", object);
    std::vector<std::unique_ptr<TransferPort>> ports;
    std::vector<Bytes> targets;
    for (std::size_t i = 0; i < receivers; ++i) {
        ports.push_back(make_port(WorkerId(1 + i), {.receive_bytes_s = receive}, arrived));
        targets.push_back(Bytes::zeros(kBytes));
        ports.back()->accept("weights", targets.back());
    }
    std::uint64_t id = 0;
    double total_s = 0, worst_s = 0;
    for (auto _ : state) {
        const double begun_s = monotonic_s();
        for (std::size_t i = 0; i < receivers; ++i) {
            const TransferOrder order{.id = ++id,
                                      .from = 0,
                                      .to = WorkerId(1 + i),
                                      .object = "weights",
                                      .bytes = kBytes,
                                      .token = draw_transfer_token()};
            ports[i]->expect(order);
            sender->send(order, ports[i]->port());
        }
        arrived.wait_for(id);
        const double took_s = monotonic_s() - begun_s;
        state.SetIterationTime(took_s);
        total_s += took_s;
        worst_s = std::max(worst_s, took_s);
    }
    for (const Bytes& target : targets) {
        if (!std::equal(content.begin(), content.end(), target.view().begin()))
            state.SkipWithError("what arrived is not what was sent");
    }
    const auto rounds = double(state.iterations());
    const double ideal_s = std::max(receive > 0 ? kBytes / receive : 0,
                                    send > 0 ? double(receivers) * kBytes / send : 0);
    if (ideal_s > 0) {
        state.counters["over_ideal"] = total_s / rounds / ideal_s;
        state.counters["worst"] = worst_s / ideal_s;
    }
    state.counters["MB_per_s"] = 1e-6 * kBytes * rounds / total_s;
}

BENCHMARK(transfer)
    ->ArgNames({"file", "receivers", "send", "recv"})
    ->ArgsProduct({{0, 1}, {1, 3}, {0, 200}, {0, 100}})
    ->Iterations(5)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
