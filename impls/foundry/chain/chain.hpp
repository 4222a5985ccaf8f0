// A chain of small kernels, each of which reads what the one before wrote: a graph of any length,
// on which a driver's calls can be timed and its answers seen without an engine (specification
// 8.3). It has two members of the same topology, as a template and a graph made of it are; what
// comes out says which of them ran, and whether any node was left as it was.
//
//     Chain chain(device, {.nodes = 365});
//     BuiltGraph graph = chain.build(Member::a);
//     Executable executable(device.driver(), graph.get());
//     graph.rewrite(chain.graph(Member::b));
//     executable.update(graph.get());
//     chain.run(executable) == chain.expected(Member::b)
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "impls/foundry/live/built_graph.hpp"
#include "impls/foundry/live/captured_graph.hpp"
#include "impls/foundry/live/device.hpp"
#include "impls/foundry/live/images.hpp"

namespace assay::foundry {

enum class Member { a, b };

struct ChainSettings {
    int nodes = 64;          ///< at least 1
    double changed = 1;      ///< share of the nodes whose parameters differ between the members
    std::uint64_t seed = 1;  ///< of the numbers that are computed with
};

class Chain {
  public:
    /// Allocates less than 4 KiB of device memory. std::logic_error for no nodes, or a share that
    /// is none; DriverError.
    Chain(const Device& device, const ChainSettings& settings);
    ~Chain();
    Chain(const Chain&) = delete;
    Chain& operator=(const Chain&) = delete;

    /// As data, with this process' addresses.
    Graph graph(Member member) const;
    /// How many of its nodes differ between the members: the share, rounded down.
    int changed_nodes() const;

    BuiltGraph build(Member member) const { return {device_, images_, graph(member)}; }
    /// Launched kernel by kernel into a capture of its stream.
    CapturedGraph capture(Member member) const;
    /// Kernel by kernel, at once or captured, whichever the stream does.
    void launch(Member member, CUstream stream) const;

    /// What one launch computes from the chain's input, 32 words.
    std::vector<std::uint64_t> run(const Executable& executable) const;
    /// The same without a device, an oracle that shares nothing with the kernel.
    std::vector<std::uint64_t> expected(Member member) const;
    /// µs of one launch on the device, over `launches` of them back to back. Their results are not
    /// looked at. On the fake driver of its virtual clock.
    double launch_us(const Executable& executable, int launches) const;

    const Images& images() const { return images_; }
    CUstream stream() const { return stream_; }

  private:
    bool differs(int node) const;
    Launch kernel(Member member, int node) const;
    void allocate();
    void write(std::size_t at, const void* from, std::size_t size) const;
    void release();

    const Device& device_;
    const Driver& driver_;
    ChainSettings settings_;
    Images images_;
    std::string image_;
    std::vector<std::uint64_t> input_, weights_[2];  // 32 words each
    CUdeviceptr memory_ = 0;  // two buffers in turns, the weights of both members, the batch size
    CUstream stream_ = nullptr;
    CUevent begin_ = nullptr, end_ = nullptr;
};

/// Opens a driver for a chain: a fake one is given the chain's kernel. NotSupportedHere.
std::shared_ptr<const Driver> open_chain_driver(const std::filesystem::path& library);

}  // namespace assay::foundry
