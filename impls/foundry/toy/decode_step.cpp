#include "impls/foundry/toy/decode_step.hpp"

#include <array>
#include <stdexcept>

namespace assay::foundry::toy {

RankHeaps StepResources::heaps(std::uint64_t) {
    throw std::logic_error("a step of several ranks has no communicator");
}

DecodeStep::DecodeStep(const Driver& driver, StepResources& resources,
                       const DecodeSettings& settings)
    : DecodeStep(driver, resources, settings, Nothing()) {
    check(settings_);
    check(driver_, driver_.cuStreamCreate(&branch_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    for (CUevent* const event : {&forks_, &joins_})
        check(driver_, driver_.cuEventCreate(event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
    for (const SharedBuffer& buffer : shared_buffers(settings_, buffers_)) {
        buffer.address->value = resources_.allocate(buffer.name, buffer.bytes);
        check(driver_, driver_.cuMemsetD8Async(buffer.address->value, 0, buffer.bytes, branch_),
              "cuMemsetD8Async");
    }
    check(driver_, driver_.cuStreamSynchronize(branch_), "cuStreamSynchronize");
    if (settings_.ranks > 1) buffers_.heaps = resources_.heaps(heap_bytes(settings_));
    write_weights(buffers_.embedding, embedding_tensor, settings_.vocabulary);
    write_weights(buffers_.head, head_tensor, layer_words / 5);
    for (int layer = 0; layer < settings_.layers; ++layer)
        write_weights(buffers_.weights[static_cast<std::size_t>(layer)], first_layer_tensor + layer,
                      layer_words);
}

DecodeStep::~DecodeStep() {
    for (const CUevent event : {forks_, joins_})
        if (event) driver_.cuEventDestroy(event);
    if (branch_) driver_.cuStreamDestroy(branch_);
}

void DecodeStep::write(Address to, const void* from, std::uint64_t bytes) {
    check(driver_, driver_.cuMemcpyHtoD(to.value, from, bytes), "cuMemcpyHtoD");
}

void DecodeStep::write_weights(Address to, int tensor, int words) {
    std::vector<std::uint64_t> weights;
    for (int i = 0; i < words; ++i) weights.push_back(weight(settings_, tensor, i));
    write(to, weights.data(), weights.size() * sizeof weights[0]);
}

void DecodeStep::set_inputs(std::span<const Row> rows, const RandomState& random) {
    const auto most_blocks = static_cast<std::size_t>(table_blocks(settings_));
    if (rows.empty() || rows.size() > static_cast<std::size_t>(settings_.most_rows))
        throw std::logic_error("a step has one row, up to those of the largest batch size");
    std::vector<int> tokens, positions, table;
    for (const Row& row : rows) {
        if (row.blocks.size() > most_blocks)
            throw std::logic_error("a sequence is longer than the context");
        tokens.push_back(row.token);
        positions.push_back(row.position);
        table.insert(table.end(), row.blocks.begin(), row.blocks.end());
        table.resize(tokens.size() * most_blocks, 0);
    }
    const int batch = static_cast<int>(rows.size());
    write(buffers_.tokens, tokens.data(), tokens.size() * sizeof tokens[0]);
    write(buffers_.positions, positions.data(), positions.size() * sizeof positions[0]);
    write(buffers_.block_table, table.data(), table.size() * sizeof table[0]);
    write(buffers_.batch, &batch, sizeof batch);
    write(buffers_.random, &random, sizeof random);
}

std::vector<int> DecodeStep::tokens(int rows) const {
    std::vector<int> tokens(static_cast<std::size_t>(rows));
    check(driver_,
          driver_.cuMemcpyDtoH(tokens.data(), buffers_.output.value,
                               tokens.size() * sizeof tokens[0]),
          "cuMemcpyDtoH");
    return tokens;
}

StepBuffers DecodeStep::buffers_of(int batch) {
    auto& [activations, row_values] = of_batch_[batch];  // another try may have got the first
    const std::string of = "/" + std::to_string(batch);
    if (activations.value == 0)
        activations.value = resources_.allocate("activations" + of, activation_bytes(batch));
    if (row_values.value == 0)
        row_values.value = resources_.allocate("row_values" + of, row_value_bytes(batch));
    StepBuffers buffers = buffers_;
    buffers.activations = activations;
    buffers.row_values = row_values;
    return buffers;
}

void DecodeStep::launch(int batch, CUstream stream) {
    const auto wait = [&](CUstream waiting, CUevent event, CUstream for_stream) {
        check(driver_, driver_.cuEventRecord(event, for_stream), "cuEventRecord");
        check(driver_, driver_.cuStreamWaitEvent(waiting, event, CU_EVENT_WAIT_DEFAULT),
              "cuStreamWaitEvent");
    };
    if (batch < 1 || batch > settings_.most_rows)
        throw std::logic_error("no step is of this batch size");
    for (const StepNode& node : step_nodes(settings_, batch, buffers_of(batch))) {
        if (node.branches) wait(branch_, forks_, stream);
        if (node.joins) wait(stream, joins_, branch_);
        launch(node, node.branches ? branch_ : stream);
    }
}

void DecodeStep::launch(const StepNode& node, CUstream stream) {
    if (node.type == NodeType::memset)
        return check(driver_, driver_.cuMemsetD32Async(node.to.value, 0, node.bytes / 4, stream),
                     "cuMemsetD32Async");
    if (node.type == NodeType::memcpy)
        return check(driver_,
                     driver_.cuMemcpyDtoDAsync(node.to.value, node.from.value, node.bytes, stream),
                     "cuMemcpyDtoDAsync");

    std::vector<void*> params;
    for (const auto& param : node.params) params.push_back(const_cast<std::byte*>(param.data()));
    std::array<CUlaunchAttribute, 2> attributes{};
    CUlaunchConfig launch{};
    launch.gridDimX = node.grid[0];
    launch.gridDimY = node.grid[1];
    launch.gridDimZ = node.grid[2];
    launch.blockDimX = node.block[0];
    launch.blockDimY = node.block[1];
    launch.blockDimZ = node.block[2];
    launch.sharedMemBytes = node.shared_bytes;
    launch.hStream = stream;
    launch.attrs = attributes.data();
    if (node.cluster > 1) {
        CUlaunchAttribute& cluster = attributes[launch.numAttrs++];
        cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        cluster.value.clusterDim = {node.cluster, 1, 1};
    }
    if (node.programmatic) {
        CUlaunchAttribute& programmatic = attributes[launch.numAttrs++];
        programmatic.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        programmatic.value.programmaticStreamSerializationAllowed = 1;
    }
    check(driver_,
          driver_.cuLaunchKernelEx(&launch, resources_.kernel(node.kernel), params.data(), nullptr),
          "cuLaunchKernelEx");
}

}  // namespace assay::foundry::toy
