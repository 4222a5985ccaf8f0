// The toy decode step: its kernels in the emulation against the oracle, what a wrong word does,
// and that the committed image is of the source beside it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <fstream>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "impls/foundry/method/images/image.hpp"
#include "impls/foundry/toy/host_kernels.hpp"
#include "impls/foundry/toy/reference.hpp"
#include "impls/foundry/toy/step_plan.hpp"
#include "suite/base/sha256.hpp"

namespace assay::foundry::toy {
namespace {

/// Memory of a device, whatever was there before.
class Memory {
  public:
    explicit Memory(std::uint64_t seed) : random_(seed) {}
    Address allocate(std::uint64_t bytes, bool zeroed) {
        auto& words = blocks_.emplace_back(bytes / 8 + 1);
        if (!zeroed)
            for (auto& word : words) word = random_();
        return {reinterpret_cast<std::uint64_t>(words.data())};
    }
    bool has(std::uint64_t address) const {
        return std::any_of(blocks_.begin(), blocks_.end(), [&](const auto& words) {
            const auto first = reinterpret_cast<std::uint64_t>(words.data());
            return address >= first && address < first + 8 * words.size();
        });
    }

  private:
    std::mt19937_64 random_;
    std::deque<std::vector<std::uint64_t>> blocks_;
};

/// 64 bits of a node's parameters.
struct Word {
    std::size_t node, param, offset;
};

std::uint64_t read(const std::vector<StepNode>& nodes, const Word& at) {
    std::uint64_t word;
    std::memcpy(&word, nodes[at.node].params[at.param].data() + at.offset, sizeof word);
    return word;
}

const Image& image() {
    static const Image read = read_image(decode_image());
    return read;
}

/// With parameters laid out as in one architecture's machine code.
void run(const StepNode& node, const ImageEntry& code) {
    if (node.type == NodeType::memset) {
        std::memset(node.to, 0, node.bytes);
        return;
    }
    if (node.type == NodeType::memcpy) {
        std::memmove(node.to, static_cast<void*>(node.from), node.bytes);
        return;
    }
    const auto same_name = [&](const auto& kernel) { return kernel.name == node.kernel; };
    const Kernel& kernel = *std::ranges::find_if(code.kernels, same_name);
    std::vector<std::byte> params(kernel.params_bytes());
    ASSERT_EQ(node.params.size(), kernel.params.size()) << node.kernel;
    for (std::size_t i = 0; i < node.params.size(); ++i) {
        ASSERT_EQ(node.params[i].size(), kernel.params[i].bytes) << node.kernel << i;
        std::ranges::copy(node.params[i], params.begin() + kernel.params[i].offset);
    }
    std::ranges::find_if(host_kernels(), same_name)
        ->run({node.grid, node.block, node.shared_bytes, params});
}

/// Sequences that are decoded together, each from a token of its own on.
class Decoding {
  public:
    Decoding(const DecodeSettings& settings, int batch, std::uint64_t seed)
        : settings_(settings), batch_(batch), memory_(seed), random_(seed) {
        for (const SharedBuffer& buffer : shared_buffers(settings, buffers_))
            *buffer.address = memory_.allocate(buffer.bytes, buffer.name == "counters");
        buffers_.activations = memory_.allocate(activation_bytes(batch), false);
        buffers_.row_values = memory_.allocate(row_value_bytes(batch), false);
        fill(buffers_.embedding, embedding_tensor, settings.vocabulary);
        fill(buffers_.head, head_tensor, layer_words / 5);
        for (int layer = 0; layer < settings.layers; ++layer)
            fill(buffers_.weights[static_cast<std::size_t>(layer)], first_layer_tensor + layer,
                 layer_words);
        nodes = step_nodes(settings, batch, buffers_);

        std::vector<int> blocks(static_cast<std::size_t>(settings.cache_blocks));
        for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] = static_cast<int>(i);
        std::shuffle(blocks.begin(), blocks.end(), random_);
        std::copy_n(blocks.begin(), batch * table_blocks(settings),
                    static_cast<int*>(buffers_.block_table));
        for (int row = 0; row < batch; ++row) {
            tokens_.push_back(static_cast<int>(random_() % 1000) % settings.vocabulary);
            reference_.emplace_back(settings);
        }
        *static_cast<int*>(buffers_.batch) = batch;
    }

    /// The tokens sampled are the oracle's.
    bool step_is_right() {
        const RandomState random{random_(), random_()};
        std::memcpy(buffers_.random, &random, sizeof random);
        for (int row = 0; row < batch_; ++row) {
            static_cast<int*>(buffers_.tokens)[row] = tokens_[static_cast<std::size_t>(row)];
            static_cast<int*>(buffers_.positions)[row] = position_;
        }
        for (const StepNode& node : nodes) run(node, image().entries[architecture]);
        const int* const output = buffers_.output;
        const std::vector<int> sampled(output, output + batch_);
        for (std::size_t row = 0; row < reference_.size(); ++row)
            tokens_[row] = reference_[row].next(tokens_[row], random);
        ++position_;
        return sampled == tokens_;
    }
    bool steps_are_right(int steps) {
        for (int i = 0; i < steps; ++i)
            if (!step_is_right()) return false;
        return true;
    }

    /// The parameters' words that are addresses.
    std::vector<Word> pointers() const {
        std::vector<Word> found;
        for (std::size_t node = 0; node < nodes.size(); ++node)
            for (std::size_t param = 0; param < nodes[node].params.size(); ++param)
                for (std::size_t at = 0; at + 8 <= nodes[node].params[param].size(); at += 4)
                    if (memory_.has(read(nodes, {node, param, at})))
                        found.push_back({node, param, at});
        return found;
    }
    /// Elsewhere, where there is other content.
    void redirect(const Word& pointer) {
        const Address other = memory_.allocate(1 << 16, false);
        std::memcpy(nodes[pointer.node].params[pointer.param].data() + pointer.offset, &other.value,
                    sizeof other.value);
    }

    std::vector<StepNode> nodes;
    std::size_t architecture = 0;  ///< of the image
    const StepBuffers& buffers() const { return buffers_; }

  private:
    void fill(Address to, int tensor, int words) {
        for (int i = 0; i < words; ++i)
            static_cast<std::uint64_t*>(to)[i] = weight(settings_, tensor, i);
    }

    DecodeSettings settings_;
    int batch_, position_ = 0;
    Memory memory_;
    std::mt19937_64 random_;
    StepBuffers buffers_;
    std::vector<int> tokens_;
    std::vector<ReferenceSequence> reference_;
};

const DecodeSettings split_from_3{.cache_blocks = 40, .split_from = 3, .cluster_from = {2, 4}};

TEST(ToyStep, DecodesTheOraclesTokens) {
    std::mt19937 random(1);
    const auto draw = [&](int from, int to) {
        return std::uniform_int_distribution(from, to)(random);
    };
    for (int i = 0; i < 20; ++i) {
        const int batch = draw(1, 6), table = draw(1, 4);
        DecodeSettings settings{.layers = draw(1, 3),
                                .vocabulary = draw(1, 3000),
                                .context = table * 16,
                                .cache_blocks = batch * table + draw(0, 5),
                                .most_rows = 8,
                                .split_from = draw(1, 6),
                                .cluster_from = {draw(1, 6), draw(1, 6)},
                                .programmatic_from = draw(1, 6),
                                .seed = random()};
        Decoding decoding(settings, batch, random());
        decoding.architecture = static_cast<std::size_t>(i) % image().entries.size();
        EXPECT_TRUE(decoding.steps_are_right(std::min(20, table * 16)));
    }
}

TEST(ToyStep, UsesTheWholeContext) {
    for (const int split_from : {1, 2}) {
        const DecodeSettings settings{.layers = 1, .split_from = split_from};
        EXPECT_TRUE(Decoding(settings, 1, 3).steps_are_right(settings.context));
    }
}

// Of every kernel, each address that it is given.
TEST(ToyStep, OneWrongAddressGivesOtherTokens) {
    for (const int batch : {2, 3}) {
        const std::vector<Word> pointers = Decoding(split_from_3, batch, 5).pointers();
        std::set<std::string> kernels;
        for (const Word& pointer : pointers) {
            Decoding decoding(split_from_3, batch, 5);
            kernels.insert(decoding.nodes[pointer.node].kernel);
            decoding.redirect(pointer);
            EXPECT_FALSE(decoding.steps_are_right(3))
                << decoding.nodes[pointer.node].kernel << " param " << pointer.param << " offset "
                << pointer.offset;
        }
        EXPECT_EQ(kernels.size(), batch == 2 ? 8U : 9U);
        EXPECT_GT(pointers.size(), 50U);
    }
}

TEST(ToyStep, OneWrongNumberGivesOtherTokens) {
    for (const int batch : {2, 3}) {
        const Decoding right(split_from_3, batch, 5);
        const auto is_of_address = [&, pointers = right.pointers()](const Word& word) {
            return std::ranges::any_of(pointers, [&](const Word& pointer) {
                return pointer.node == word.node && pointer.param == word.param &&
                       word.offset - pointer.offset < 8;
            });
        };
        int numbers = 0;
        for (std::size_t node = 0; node < right.nodes.size(); ++node)
            for (std::size_t param = 0; param < right.nodes[node].params.size(); ++param)
                for (std::size_t at = 0; at < right.nodes[node].params[param].size(); at += 4) {
                    Decoding decoding(split_from_3, batch, 5);
                    std::byte* const word = &decoding.nodes[node].params[param][at];
                    const bool unused = decoding.nodes[node].kernel == "toy_head" && at >= 100;
                    if (unused || is_of_address({node, param, at})) continue;
                    ++numbers;
                    *word = static_cast<std::byte>(static_cast<int>(*word) + 1);
                    EXPECT_FALSE(decoding.steps_are_right(3))
                        << decoding.nodes[node].kernel << " param " << param << " offset " << at;
                }
        EXPECT_GT(numbers, 25);
    }
}

TEST(ToyStep, OneNodeLeftOutOrTooEarlyGivesOtherTokens) {
    for (const int batch : {2, 3}) {
        const std::size_t nodes = Decoding(split_from_3, batch, 5).nodes.size();
        for (std::size_t node = 0; node < nodes; ++node) {
            Decoding without(split_from_3, batch, 5);
            without.nodes.erase(without.nodes.begin() + static_cast<std::ptrdiff_t>(node));
            EXPECT_FALSE(without.steps_are_right(3)) << node;
        }
        // The first two follow the memset or nothing, in any order.
        for (std::size_t node = 3; node + 1 < nodes; ++node) {
            Decoding swapped(split_from_3, batch, 5);
            if (swapped.nodes[node].joins) continue;
            std::swap(swapped.nodes[node], swapped.nodes[node + 1]);
            EXPECT_FALSE(swapped.steps_are_right(3)) << node;
        }
    }
}

TEST(ToyStep, CountersThatWereNotZeroGiveOtherTokens) {
    Decoding decoding(split_from_3, 3, 5);
    ++static_cast<int*>(decoding.buffers().counters)[1];
    EXPECT_FALSE(decoding.step_is_right());
}

TEST(ToyStep, AnotherGridOrSizeGivesOtherTokens) {
    const std::size_t nodes = Decoding(split_from_3, 3, 5).nodes.size();
    for (std::size_t node = 0; node < nodes; ++node) {
        for (const bool more : {false, true}) {
            Decoding decoding(split_from_3, 3, 5);
            StepNode& changed = decoding.nodes[node];
            if (changed.type != NodeType::kernel || (more && changed.kernel == "toy_head"))
                continue;
            changed.grid[0] = more ? 4 : 2;
            EXPECT_FALSE(decoding.steps_are_right(3)) << changed.kernel << more;
        }
    }
    Decoding shared(split_from_3, 2, 5);
    for (StepNode& node : shared.nodes) node.shared_bytes /= 2;
    EXPECT_THROW(shared.step_is_right(), std::logic_error);
    Decoding threads(split_from_3, 2, 5);
    for (StepNode& node : threads.nodes) node.block[0] = 64;
    EXPECT_THROW(threads.step_is_right(), std::logic_error);
}

TEST(ToySettings, NodesAndGroupsAreAsTheRulesSay) {
    const DecodeSettings settings{.layers = 3,
                                  .cache_blocks = 200,
                                  .split_from = 5,
                                  .cluster_from = {3, 9},
                                  .programmatic_from = 12};
    std::vector<int> batches;
    std::set<std::vector<std::pair<std::string, std::uint32_t>>> signatures;
    StepBuffers buffers;
    static_cast<void>(shared_buffers(settings, buffers));
    for (int batch = 1; batch <= settings.most_rows; ++batch) {
        batches.push_back(batch);
        const auto nodes = step_nodes(settings, batch, buffers);
        EXPECT_EQ(static_cast<int>(nodes.size()), nodes_of_step(settings, batch));
        std::vector<std::pair<std::string, std::uint32_t>> signature;
        for (const StepNode& node : nodes)
            signature.emplace_back(std::to_string(static_cast<int>(node.type)), node.cluster);
        signatures.insert(signature);
        EXPECT_EQ(nodes.at(nodes.size() - 2).programmatic, batch >= 12);
    }
    EXPECT_EQ(nodes_of_step(settings, 4), 18);
    EXPECT_EQ(nodes_of_step(settings, 5), 21);
    EXPECT_EQ(topology_groups(settings, batches, Key::paper), static_cast<int>(signatures.size()));
    EXPECT_EQ(topology_groups(settings, batches, Key::paper), 4);
    EXPECT_EQ(topology_groups(settings, batches, Key::strong), 5);
    EXPECT_EQ(topology_groups(settings, std::vector{6, 7, 8}, Key::strong), 1);
}

TEST(ToySettings, RefusesWhatNoStepIsOf) {
    EXPECT_THROW(check(DecodeSettings{.layers = 0}), std::logic_error);
    EXPECT_THROW(check(DecodeSettings{.context = 100}), std::logic_error);
    EXPECT_THROW(check(DecodeSettings{.cluster_from = {1, 2, 3, 4}}), std::logic_error);
    EXPECT_NO_THROW(check(DecodeSettings{}));
}

TEST(ToyImage, HoldsTheKernelsForEachArchitecture) {
    std::set<std::string_view> names;
    for (const fake::HostKernel& kernel : host_kernels()) names.insert(kernel.name);
    std::vector<std::uint32_t> architectures, offsets;
    for (const ImageEntry& entry : image().entries) {
        EXPECT_EQ(entry.kind, CodeKind::cubin);
        architectures.push_back(entry.sm.value());
        std::set<std::string_view> found;
        for (const Kernel& kernel : entry.kernels) {
            found.insert(kernel.name);
            if (kernel.name == "toy_head") offsets.push_back(kernel.params.back().offset);
        }
        EXPECT_EQ(found, names);
    }
    EXPECT_THAT(architectures, testing::ElementsAre(80, 90, 100));
    EXPECT_THAT(offsets, testing::ElementsAre(32, 48, 64));  // aligned to 64 in the constant bank
}

// A line each: digest and file, as sha256sum writes them.
TEST(ToyImage, IsOfTheSourceBesideIt) {
    const std::filesystem::path source = ASSAY_SOURCE;
    std::ifstream sums(source / "impls/foundry/toy/images/SHA256SUMS");
    std::string digest, file;
    int files = 0;
    for (; sums >> digest >> file; ++files)
        EXPECT_EQ(sha256_file_hex(source / file), digest)
            << file << " has changed: run impls/foundry/toy/images/build_images.sh";
    EXPECT_EQ(files, 4);
    const auto image = decode_image();
    EXPECT_EQ(sha256_hex({reinterpret_cast<const char*>(image.data()), image.size()}), digest);
    EXPECT_LE(image.size(), 64U << 10);
}

}  // namespace
}  // namespace assay::foundry::toy
