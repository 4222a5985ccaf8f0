#include "impls/nn/all_to_all.hpp"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <numeric>
#include <stdexcept>

namespace assay::nn {
namespace {

at::Tensor exchange(const at::Tensor& rows, const std::vector<std::int64_t>& send_rows,
                    const std::vector<std::int64_t>& recv_rows, cluster::Communicator& comm) {
    const auto width = rows.size(1);
    auto scaled = [width](std::vector<std::int64_t> counts) {
        for (auto& count : counts) count *= width;
        return counts;
    };
    const auto send = rows.contiguous();
    const auto total = std::accumulate(recv_rows.begin(), recv_rows.end(), std::int64_t{0});
    auto received = at::empty({total, width}, rows.options());
    comm.all_to_all_v(send.data_ptr(), scaled(send_rows), received.data_ptr(), scaled(recv_rows),
                      dtype_of(rows));
    return received;
}

struct Exchange : torch::autograd::Function<Exchange> {
    static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& rows,
                              const std::vector<std::int64_t>& send_rows,
                              const std::vector<std::int64_t>& recv_rows,
                              cluster::Communicator* comm) {
        context->saved_data["send"] = send_rows;
        context->saved_data["recv"] = recv_rows;
        context->saved_data["comm"] = reinterpret_cast<std::int64_t>(comm);
        return exchange(rows, send_rows, recv_rows, *comm);
    }
    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   const torch::autograd::variable_list& grads) {
        auto* comm = reinterpret_cast<cluster::Communicator*>(context->saved_data["comm"].toInt());
        return {exchange(grads[0], context->saved_data["recv"].toIntVector(),
                         context->saved_data["send"].toIntVector(), *comm),
                at::Tensor(), at::Tensor(), at::Tensor()};
    }
};

}  // namespace

at::Tensor exchange_rows(const at::Tensor& rows, const std::vector<std::int64_t>& send_rows,
                         const std::vector<std::int64_t>& recv_rows, cluster::Communicator& comm) {
    return Exchange::apply(rows, send_rows, recv_rows, &comm);
}

cluster::Dtype dtype_of(const at::Tensor& tensor) {
    switch (tensor.scalar_type()) {
        case at::kFloat:
            return cluster::Dtype::f32;
        case at::kDouble:
            return cluster::Dtype::f64;
        case at::kBFloat16:
            return cluster::Dtype::bf16;
        case at::kLong:
            return cluster::Dtype::i64;
        case at::kByte:
            return cluster::Dtype::u8;
        default:
            throw std::invalid_argument("no communicator type for this tensor's dtype");
    }
}

}  // namespace assay::nn
