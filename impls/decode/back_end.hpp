// What computes the steps that the engine plans: a processor (cpu/), a model of one (modelled/),
// later a GPU. It knows blocks of the cache and token ids; requests, prefixes and queues it does
// not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "impls/decode/sampling.hpp"

namespace assay::decode {

constexpr int block_positions = 16;  ///< of a block of the paged cache
/// That hold so many positions of a sequence.
constexpr int blocks_for(int positions) {
    return (positions + block_positions - 1) / block_positions;
}

/// How the token after a slice is found. Draw n of a request is a hash of its seed and n, so that
/// it does not depend on what ran beside it.
struct Pick {
    Sampling sampling;
    std::uint64_t draw = 0;                  ///< number of this draw in its request, from 0
    int forced = -1;                         ///< this id, whatever the logits say; -1: none
    std::span<const std::uint64_t> allowed;  ///< a bit per id of the vocabulary; empty: all
};

/// Consecutive tokens of one sequence, part of a step.
struct Slice {
    std::span<const int> ids;  ///< to be fed, at the positions from first_position on
    int first_position = 0;
    /// Where they are not consecutive: the place of each of `ids`; empty: from first_position on.
    std::span<const int> positions;
    /// The positions by which queries and keys of each are rotated; empty: those where they stand.
    std::span<const int> rotations;
    std::span<const int> blocks;  ///< block n holds the positions from n · block_positions on
    bool picks = false;           ///< whether the token after the last is wanted, found by `pick`
    Pick pick;
    /// Ids that follow each of `ids` and whose log-probabilities are wanted; -1: not of this one.
    /// Empty, or as many as `ids`.
    std::span<const int> scored;
};

/// What a slice gave.
struct Outcome {
    int id = -1;                ///< picked
    float log_probability = 0;  ///< nats, of the raw logits' softmax
    /// nats, with which it was drawn: by temperature, top-k, top-p and mask; 0 where there was no
    /// choice (temperature 0, forced).
    float sampled_log_probability = 0;
    bool finite = true;          ///< false: its logits have no softmax; the request has failed
    std::vector<double> scores;  ///< of `scored`, where it was not -1 (else 0)
};

/// Consecutive positions of one block in another, their keys rotated by `shift` positions.
struct LinkedPositions {
    int from = -1, from_position = 0;
    int to = -1, to_position = 0;
    int positions = 0;
    int shift = 0;
};

/// A model's weights in memory, made beside the steps of those that will use them.
class ModelWeights {
  public:
    virtual ~ModelWeights() = default;
    /// Of the bytes that were copied: equal weights, equal digests.
    virtual std::string digest() const = 0;
};

class BackEnd {
  public:
    virtual ~BackEnd() = default;

    virtual int vocabulary() const = 0;
    virtual int context() const = 0;  ///< most positions of one sequence
    virtual int blocks() const = 0;   ///< of the cache
    virtual std::size_t block_bytes() const = 0;
    /// Names all that keys and values depend on: weights, arithmetic of activations, how they are
    /// kept. Blocks of one back end are another's only where these are equal.
    virtual std::string identity() const = 0;

    /// Whether use() can have them: of the same kind and shape.
    virtual bool fits(const ModelWeights& weights) const = 0;
    /// Weights of the steps from now on; what is in the cache stays. Throws std::invalid_argument
    /// where they do not fit.
    virtual void use(std::shared_ptr<ModelWeights> weights) = 0;

    /// One step: all slices side by side. Every outcome is the same, bit for bit, whatever other
    /// slices are there and however a sequence is cut into slices. out: one per slice.
    virtual void run(std::span<const Slice> slices, std::span<Outcome> out) = 0;

    /// The first `positions` of block `from` over those of `to`.
    virtual void copy_block(int from, int to, int positions) = 0;
    /// Whether keys tell their position by a rotation alone (RoPE): then they can be linked, and
    /// slices have positions and rotations.
    virtual bool can_link() const { return false; }
    virtual void link(const LinkedPositions&) {
        throw std::logic_error("this back end cannot link keys and values");
    }
    /// A block's keys and values, in a layout of the back end's own; [block_bytes].
    virtual void read_block(int block, std::span<std::byte> out) const = 0;
    virtual void write_block(int block, std::span<const std::byte> in) = 0;

    /// How long the last step took by its own clock, seconds: measured, or modelled.
    virtual double step_seconds() const = 0;
    /// Weights, keys and values that the last step had to read at least: over the bandwidth, the
    /// least it can take. 0: not known.
    virtual std::uint64_t step_bytes() const { return 0; }
};

}  // namespace assay::decode
