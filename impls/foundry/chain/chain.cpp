#include "impls/foundry/chain/chain.hpp"

#include <cmath>
#include <cstring>
#include <random>
#include <stdexcept>

#include "impls/foundry/driver/fake/control.hpp"
#include "impls/foundry/toy/host_kernels.hpp"

namespace assay::foundry {
namespace {

/// The toy's kernel that reads one buffer and writes another: (normed, hidden, weights, batch).
constexpr const char* kernel_name = "toy_norm";
constexpr std::size_t words = 32, bytes = words * sizeof(std::uint64_t);

/// Where parts of the memory begin, in bytes.
constexpr std::size_t buffer_at(int which) { return static_cast<std::size_t>(which) * bytes; }
constexpr std::size_t weights_at(int member) { return buffer_at(2 + member); }
constexpr std::size_t batch_at = buffer_at(4), all_bytes = batch_at + sizeof(std::uint64_t);

std::vector<std::uint64_t> drawn(std::mt19937_64& random) {
    std::vector<std::uint64_t> drawn(words);
    for (std::uint64_t& word : drawn) word = random();
    return drawn;
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t product = (a ^ (b + 0x9e3779b97f4a7c15ULL)) * 0xbf58476d1ce4e5b9ULL;
    return product ^ (product >> 29);
}

}  // namespace

std::shared_ptr<const Driver> open_chain_driver(const std::filesystem::path& library) {
    auto driver = open_driver(library);
    if (fake::FakeControl::is_fake(*driver))
        fake::FakeControl(*driver).add_kernels(toy::host_kernels());
    return driver;
}

Chain::Chain(const Device& device, const ChainSettings& settings)
    : device_(device), driver_(device.driver()), settings_(settings), images_(device.driver()) {
    if (settings.nodes < 1 || !(settings.changed >= 0 && settings.changed <= 1))
        throw std::logic_error("a chain has nodes, and a share of them changes");
    std::mt19937_64 random(settings.seed);
    input_ = drawn(random);
    for (auto& weights : weights_) weights = drawn(random);
    image_ = images_.load(toy::decode_image());
    try {
        allocate();
    } catch (...) {
        release();
        throw;
    }
}

Chain::~Chain() { release(); }

void Chain::allocate() {
    check(driver_, driver_.cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    for (CUevent* const event : {&begin_, &end_})
        check(driver_, driver_.cuEventCreate(event, CU_EVENT_DEFAULT), "cuEventCreate");
    check(driver_, driver_.cuMemAlloc(&memory_, all_bytes), "cuMemAlloc");
    for (const int member : {0, 1}) write(weights_at(member), weights_[member].data(), bytes);
    const int batch = 1;
    write(batch_at, &batch, sizeof batch);
}

/// In the order of the chain's stream: copies of the legacy stream would not wait for it, nor it
/// for them.
void Chain::write(std::size_t at, const void* from, std::size_t size) const {
    check(driver_, driver_.cuMemcpyHtoDAsync(memory_ + at, from, size, stream_),
          "cuMemcpyHtoDAsync");
    check(driver_, driver_.cuStreamSynchronize(stream_), "cuStreamSynchronize");
}

void Chain::release() {
    if (stream_ != nullptr) driver_.cuStreamSynchronize(stream_);
    if (memory_ != 0) driver_.cuMemFree(memory_);
    for (const CUevent event : {begin_, end_})
        if (event != nullptr) driver_.cuEventDestroy(event);
    if (stream_ != nullptr) driver_.cuStreamDestroy(stream_);
}

/// Spread evenly over the chain.
bool Chain::differs(int node) const {
    return std::floor((node + 1) * settings_.changed) > std::floor(node * settings_.changed);
}

int Chain::changed_nodes() const {
    return static_cast<int>(std::floor(settings_.nodes * settings_.changed));
}

Launch Chain::kernel(Member member, int node) const {
    const CUdeviceptr params[] = {
        memory_ + buffer_at((node + 1) % 2), memory_ + buffer_at(node % 2),
        memory_ + weights_at(member == Member::b && differs(node)), memory_ + batch_at};
    Launch launch{.image = image_, .name = kernel_name, .block = {words, 1, 1}};
    launch.params.resize(sizeof params);
    std::memcpy(launch.params.data(), params, sizeof params);
    return launch;
}

Graph Chain::graph(Member member) const {
    Graph graph{.batch = member == Member::a ? 1 : 2};
    for (int node = 0; node < settings_.nodes; ++node) {
        graph.nodes.push_back({.type = NodeType::kernel, .launch = kernel(member, node)});
        const auto at = static_cast<std::uint32_t>(node);
        if (node > 0) graph.edges.push_back({.from = at - 1, .to = at});
    }
    return graph;
}

void Chain::launch(Member member, CUstream stream) const {
    const CUfunction function = images_.find(image_, kernel_name)->function;
    for (int node = 0; node < settings_.nodes; ++node) {
        Launch given = kernel(member, node);
        void* params[4];
        for (std::size_t i = 0; i < 4; ++i)
            params[i] = given.params.data() + i * sizeof(CUdeviceptr);
        check(driver_,
              driver_.cuLaunchKernel(function, 1, 1, 1, words, 1, 1, 0, stream, params, nullptr),
              "cuLaunchKernel");
    }
}

CapturedGraph Chain::capture(Member member) const {
    return foundry::capture(driver_, stream_, [&] { launch(member, stream_); });
}

std::vector<std::uint64_t> Chain::run(const Executable& executable) const {
    write(buffer_at(0), input_.data(), bytes);
    executable.launch(stream_);
    check(driver_, driver_.cuStreamSynchronize(stream_), "cuStreamSynchronize");
    std::vector<std::uint64_t> result(words);
    check(driver_,
          driver_.cuMemcpyDtoH(result.data(), memory_ + buffer_at(settings_.nodes % 2), bytes),
          "cuMemcpyDtoH");
    return result;
}

std::vector<std::uint64_t> Chain::expected(Member member) const {
    std::vector<std::uint64_t> hidden = input_, normed(words);
    for (int node = 0; node < settings_.nodes; ++node) {
        const auto& weights = weights_[member == Member::b && differs(node)];
        std::uint64_t all = 0;
        for (const std::uint64_t word : hidden) all = 31 * all + word;
        for (std::size_t i = 0; i < words; ++i) normed[i] = mix(hidden[i] + all, weights[i]);
        hidden.swap(normed);
    }
    return hidden;
}

double Chain::launch_us(const Executable& executable, int launches) const {
    // One ahead, which the device is busy with while the others are given.
    executable.launch(stream_);
    check(driver_, driver_.cuEventRecord(begin_, stream_), "cuEventRecord");
    for (int launch = 0; launch < launches; ++launch) executable.launch(stream_);
    check(driver_, driver_.cuEventRecord(end_, stream_), "cuEventRecord");
    check(driver_, driver_.cuEventSynchronize(end_), "cuEventSynchronize");
    float milliseconds = 0;
    check(driver_, driver_.cuEventElapsedTime(&milliseconds, begin_, end_), "cuEventElapsedTime");
    return 1e3 * double{milliseconds} / launches;
}

}  // namespace assay::foundry
