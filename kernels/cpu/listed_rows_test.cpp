// Rows that a list names: the bits of the same rows read one by one, for every set of instructions.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "kernels/cpu/context.hpp"
#include "kernels/cpu/element_types.hpp"
#include "kernels/reference/back_ends.hpp"
#include "kernels/reference/reference.hpp"

namespace assay::kernels {
namespace {

constexpr int rows = 40;
// With what is read after them.
const std::vector<std::int32_t> list{0, 3, 4, 5, 11, 12, 20, 37, 39, 39, 39, 39, 39};
constexpr int count = 9, ahead = 4;

class ListedRows : public reference::EachBackEnd {
  protected:
    std::mt19937_64 random{5};

    void expect_same(const std::vector<float>& one, const std::vector<float>& other, AssayType type,
                     int columns, int tokens) const {
        EXPECT_EQ(std::memcmp(one.data(), other.data(), one.size() * sizeof(float)), 0)
            << "type " << type << ", " << columns << " columns, " << tokens << " tokens";
    }
};
INSTANTIATE_TEST_SUITE_P(Cpu, ListedRows, reference::every_back_end, reference::back_end_name);

TEST_P(ListedRows, ProductsAreThoseOfTheRows) {
    for (const AssayType type :
         {ASSAY_F32, ASSAY_F16, ASSAY_BF16, ASSAY_Q8_0, ASSAY_Q4_0, ASSAY_Q4_1})
        for (const int columns : {32, 96, 576})
            for (const int tokens : {1, 3}) {
                const std::size_t bytes = row_bytes(type, columns);
                const auto weights = reference::random_weights(type, rows, columns, random);
                const auto x =
                    reference::random_floats(static_cast<std::size_t>(tokens * columns), random);
                const float* of_token[largest_batch];
                for (int t = 0; t < tokens; ++t) of_token[t] = x.data() + t * columns;
                std::vector<float> listed(count * static_cast<std::size_t>(tokens)), single(listed);
                const DotRowsTable& dot = *context->instructions.dot_rows;
                dot.listed[type](weights.data(), bytes, list.data(), count, ahead, columns,
                                 of_token, tokens, listed.data());
                for (int i = 0; i < count; ++i) {
                    const std::byte* const row =
                        weights.data() + static_cast<std::size_t>(list[i]) * bytes;
                    dot.of_type[type](row, bytes, 1, columns, of_token, tokens,
                                      single.data() + i * tokens, row);
                }
                expect_same(listed, single, type, columns, tokens);
            }
}

TEST_P(ListedRows, SumsAreThoseOfTheRows) {
    for (const AssayType type : {ASSAY_F32, ASSAY_F16, ASSAY_BF16})
        for (const int columns : {5, 64, 250})
            for (const int tokens : {1, 3}) {
                const std::size_t bytes = row_bytes(type, columns);
                const auto weights = reference::random_weights(type, rows, columns, random);
                const auto h =
                    reference::random_floats(static_cast<std::size_t>(count * tokens), random);
                std::vector<float> listed(static_cast<std::size_t>(tokens * columns)),
                    single(listed);
                const auto of_tokens = [&](std::vector<float>& y) {
                    std::vector<float*> of_token;
                    for (int t = 0; t < tokens; ++t) of_token.push_back(y.data() + t * columns);
                    return of_token;
                };
                const AddRowsTable& add = *context->instructions.add_rows;
                add.listed[type](weights.data(), bytes, list.data(), count, ahead, columns,
                                 h.data(), tokens, of_tokens(listed).data());
                for (int i = 0; i < count; ++i) {
                    const std::byte* const row =
                        weights.data() + static_cast<std::size_t>(list[i]) * bytes;
                    add.of_type[type](row, bytes, 1, columns, h.data() + i * tokens, tokens,
                                      of_tokens(single).data(), row);
                }
                expect_same(listed, single, type, columns, tokens);
            }
}

}  // namespace
}  // namespace assay::kernels
