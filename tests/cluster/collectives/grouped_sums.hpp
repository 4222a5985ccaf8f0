// A random job for grouped_all_reduce and its result by the plainest code: buffers of odd sizes,
// each held by a random subset of ranks, summed in rank order.
#pragma once

#include <cstring>
#include <random>
#include <vector>

#include "suite/cluster/collectives/grouped_all_reduce.hpp"

namespace assay::cluster {

class GroupedSums {
  public:
    using Bytes = std::vector<std::vector<std::byte>>;  ///< per buffer; empty where not held

    GroupedSums(int ranks, Dtype dtype, std::uint32_t seed) : dtype_(dtype) {
        std::mt19937 random(seed);
        std::normal_distribution<double> normal(0.0, 1.0);
        for (std::int64_t count : {0, 1, 2, 3, 7, 64, 1000, 2051}) {
            for (int copy = 0; copy < 3; ++copy) {
                Job job{count, {}, {}};
                for (int rank = 0; rank < ranks; ++rank) {
                    // The first of each size is held by all, as gradients outside experts are.
                    if (copy == 0 || random() % 2 == 0) job.holders.push_back(rank);
                }
                if (job.holders.empty()) job.holders.push_back(int(random() % ranks));
                job.values.resize(job.holders.size());
                for (auto& values : job.values) {
                    // Exponents far apart: another order of addition gives other bits.
                    for (int i = 0; i < count; ++i) {
                        values.push_back(normal(random) * std::pow(2.0, int(random() % 30)));
                    }
                }
                jobs_.push_back(std::move(job));
            }
        }
    }

    Bytes data_of(int rank) const {
        Bytes data;
        for (const Job& job : jobs_) {
            data.emplace_back();
            for (std::size_t h = 0; h < job.holders.size(); ++h) {
                if (job.holders[h] == rank) data.back() = stored(job.values[h]);
            }
        }
        return data;
    }

    std::vector<SharedBuffer> buffers(Bytes& data) const {
        std::vector<SharedBuffer> list;
        for (std::size_t b = 0; b < jobs_.size(); ++b) {
            list.push_back(
                {jobs_[b].count, jobs_[b].holders, data[b].empty() ? nullptr : data[b].data()});
        }
        return list;
    }

    /// Sums in the buffers' own precision, in rank order.
    Bytes expected_bits(int rank) const {
        Bytes data = data_of(rank);
        for (std::size_t b = 0; b < jobs_.size(); ++b) {
            if (data[b].empty()) continue;
            data[b] = dtype_ == Dtype::f32 ? sum_in_rank_order<float>(jobs_[b])
                                           : sum_in_rank_order<double>(jobs_[b]);
        }
        return data;
    }

    /// Largest |got - exact| / (sum of magnitudes) over everything a rank holds, sums in double.
    double worst_error(const Bytes& got) const {
        double worst = 0;
        for (std::size_t b = 0; b < jobs_.size(); ++b) {
            if (got[b].empty()) continue;
            for (std::int64_t i = 0; i < jobs_[b].count; ++i) {
                double exact = 0, magnitude = 0, value = 0;
                for (const auto& values : jobs_[b].values) {
                    const double v = dtype_ == Dtype::f32 ? double(float(values[i])) : values[i];
                    exact += v;
                    magnitude += std::abs(v);
                }
                if (dtype_ == Dtype::f32) {
                    value = reinterpret_cast<const float*>(got[b].data())[i];
                } else {
                    value = reinterpret_cast<const double*>(got[b].data())[i];
                }
                worst = std::max(worst, std::abs(value - exact) / magnitude);
            }
        }
        return worst;
    }

  private:
    struct Job {
        std::int64_t count;
        std::vector<int> holders;
        std::vector<std::vector<double>> values;  ///< per holder
    };

    template <class T>
    static std::vector<std::byte> bytes_of(const std::vector<T>& values) {
        std::vector<std::byte> bytes(values.size() * sizeof(T));
        if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
        return bytes;
    }
    std::vector<std::byte> stored(const std::vector<double>& values) const {
        if (dtype_ == Dtype::f64) return bytes_of(values);
        return bytes_of(std::vector<float>(values.begin(), values.end()));
    }
    template <class T>
    static std::vector<std::byte> sum_in_rank_order(const Job& job) {
        std::vector<T> sum(job.count);
        for (std::int64_t i = 0; i < job.count; ++i) {
            sum[i] = T(job.values[0][i]);
            for (std::size_t h = 1; h < job.values.size(); ++h) sum[i] += T(job.values[h][i]);
        }
        return bytes_of(sum);
    }

    Dtype dtype_;
    std::vector<Job> jobs_;
};

}  // namespace assay::cluster
