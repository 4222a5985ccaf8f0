// The random problems of kernels/reference with a copy in device memory.
#pragma once

#include "kernels/cuda/harness/device_array.hpp"
#include "kernels/reference/dispatch_problem.hpp"

namespace assay::kernels::cuda::harness {

/// `values` and a guard behind that no kernel may touch, poisoned.
class PoisonedOutput {
  public:
    explicit PoisonedOutput(std::size_t size) : array_(size + guard_floats), size_(size) {
        poison();
    }
    void poison() { array_.poison(); }
    float* data() const { return array_.data(); }
    std::vector<float> get() const {
        std::vector<float> values = array_.get();
        values.resize(size_);
        return values;
    }
    bool guard_stands() const {
        const std::vector<float> values = array_.get();
        for (std::size_t i = size_; i < values.size(); ++i)
            if (values[i] == values[i]) return false;  // no longer NaN
        return true;
    }

  private:
    static constexpr std::size_t guard_floats = 64;
    DeviceArray<float> array_;
    std::size_t size_;
};

struct DeviceGemv {
    explicit DeviceGemv(reference::GemvProblem& problem)
        : host(problem.call()),
          weights(problem.weights),
          x(problem.x),
          bias(problem.bias),
          y(problem.y.size()),
          misalignment(problem.misalignment) {}
    AssayGemv call() const {
        AssayGemv call = host;
        call.weights = weights.data() + misalignment;
        call.x = x.data();
        call.bias = bias.data();
        call.y = y.data();
        return call;
    }
    AssayGemv host;
    DeviceArray<std::byte> weights;
    DeviceArray<float> x, bias;
    PoisonedOutput y;
    std::size_t misalignment;
};

struct DeviceDispatch {
    explicit DeviceDispatch(reference::DispatchProblem& problem)
        : host(problem.call()),
          tokens(problem.tokens),
          replicas(problem.replicas),
          choices(problem.choices),
          send_first(problem.send_first),
          receive_first(problem.receive_first),
          places(problem.places),
          expert_first(problem.expert_first),
          grouped(problem.grouped) {}
    AssayDispatch call() const {
        AssayDispatch call = host;
        call.tokens = tokens.data();
        call.replicas = replicas.data();
        call.choices = choices.data();
        call.send_first = send_first.data();
        call.receive_first = receive_first.data();
        call.places = places.data();
        call.expert_first = expert_first.data();
        call.grouped = grouped.data();
        return call;
    }
    /// The outputs.
    void fetch(reference::DispatchProblem& problem) const {
        problem.send_first = send_first.get();
        problem.receive_first = receive_first.get();
        problem.places = places.get();
        problem.expert_first = expert_first.get();
        problem.grouped = grouped.get();
    }

    AssayDispatch host;
    DeviceArray<std::int32_t> tokens, replicas, choices;
    DeviceArray<std::int32_t> send_first, receive_first, places, expert_first, grouped;
};

struct DeviceFfn {
    DeviceFfn(const AssayKernels& kernels, reference::FfnProblem& problem)
        : host(problem.call()),
          gate(problem.gate),
          up(problem.up),
          down(problem.down),
          up_bias(problem.up_bias),
          down_bias(problem.down_bias),
          x(problem.x),
          mask(problem.mask),
          active(problem.active),
          active_count(std::vector<std::int32_t>{problem.active_count}),
          y(problem.y.size()),
          workspace_bytes(kernels.sparse_ffn_workspace(&host.ffn, host.batch)),
          workspace(workspace_bytes / sizeof(float)) {}
    AssaySparseFfn call() const {
        AssaySparseFfn call = host;
        call.ffn.gate = gate.data();  // null where there is none
        call.ffn.up = up.data();
        call.ffn.down = down.data();
        if (host.ffn.up_bias) call.ffn.up_bias = up_bias.data();
        if (host.ffn.down_bias) call.ffn.down_bias = down_bias.data();
        call.x = x.data();
        call.mask = host.mask ? mask.data() : nullptr;
        call.active = active.data();
        call.active_count = active_count.data();
        call.y = y.data();
        call.workspace = workspace.data();
        call.workspace_bytes = workspace_bytes;
        return call;
    }
    void poison_outputs() {
        y.poison();
        workspace.poison();
    }

    AssaySparseFfn host;
    DeviceArray<std::byte> gate, up, down;
    DeviceArray<float> up_bias, down_bias, x;
    DeviceArray<std::uint8_t> mask;
    DeviceArray<std::int32_t> active, active_count;
    PoisonedOutput y;
    std::size_t workspace_bytes;
    PoisonedOutput workspace;
};

}  // namespace assay::kernels::cuda::harness
