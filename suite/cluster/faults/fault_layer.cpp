// Two decorators: the inner one holds operations back and flips bits, the outer one (if wanted)
// adds and checks the checksums, so that a bit flips after its checksum was made.
#include "suite/cluster/faults/fault_layer.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "suite/cluster/collectives/checksum_layer.hpp"
#include "suite/cluster/collectives/communicator.hpp"
#include "suite/cluster/faults/link_faults.hpp"

namespace assay::cluster {

class FaultLayer final : public Communicator {
  public:
    FaultLayer(std::unique_ptr<Communicator> inner, std::vector<WorkerId> names,
               std::shared_ptr<LinkFaults> owner, FaultLayerOptions options)
        : inner_(std::move(inner)),
          names_(std::move(names)),
          owner_(std::move(owner)),
          faults_(*owner_->impl_),
          options_(std::move(options)),
          overhead_bytes_(options_.checksums ? kChecksumBytes : 0),
          rank_(inner_->rank()),
          size_(inner_->size()) {}

    int rank() const override { return rank_; }
    int size() const override { return size_; }

    void all_to_all_v(const void* send, std::span<const std::int64_t> send_counts, void* recv,
                      std::span<const std::int64_t> recv_counts, Dtype dtype) override {
        if (faultless()) {
            return inner_->all_to_all_v(send, send_counts, recv, recv_counts, dtype);
        }
        const std::size_t element = size_of(dtype);
        const auto total = checked_total(send_counts, size_, "send_counts") * element;
        checked_total(recv_counts, size_, "recv_counts");
        std::vector<Exchange> exchanges;
        std::vector<Payload> payloads;
        std::size_t at = 0;
        for (int peer = 0; peer < size_; ++peer) {
            const std::size_t out = send_counts[peer] * element, in = recv_counts[peer] * element;
            if (peer != rank_) {
                add(exchanges, peer, payload_of(out), payload_of(in), payload_of(out) > 0,
                    payload_of(in) > 0);
                payloads.push_back({at, payload_of(out)});
            }
            at += out;
        }
        hold(exchanges);
        inner_->all_to_all_v(with_flip(send, total, payloads), send_counts, recv, recv_counts,
                             dtype);
    }

    // How much comes is known once it is there.
    std::vector<std::span<const std::byte>> exchange_messages(
        std::span<const Message> messages) override {
        if (faultless()) return inner_->exchange_messages(messages);
        check_messages(messages, size_);
        std::vector<Exchange> outgoing, incoming;
        std::vector<Payload> payloads;
        std::vector<std::byte> all;
        for (int peer = 0; peer < size_; ++peer) {
            const std::size_t at = all.size(), out = size_of(messages[peer]);
            all.resize(at + out);
            copy_of(messages[peer], all.data() + at);
            if (peer == rank_) continue;
            add(outgoing, peer, payload_of(out), 0, payload_of(out) > 0, false);
            payloads.push_back({at, payload_of(out)});
        }
        hold(outgoing);
        const auto* at = static_cast<const std::byte*>(with_flip(all.data(), all.size(), payloads));
        std::vector<Message> sent;
        for (const Message& message : messages) {
            sent.push_back({{at, size_of(message)}});
            at += size_of(message);
        }
        const auto arrived = inner_->exchange_messages(sent);
        for (int peer = 0; peer < size_; ++peer) {
            const std::size_t in = payload_of(arrived[peer].size());
            if (peer != rank_ && in > payload_of(size_of(messages[peer])))
                add(incoming, peer, 0, in, false, true);
        }
        hold(incoming);
        return arrived;
    }

    void all_gather(const void* send, std::size_t count, void* recv, Dtype dtype) override {
        if (faultless()) return inner_->all_gather(send, count, recv, dtype);
        const std::size_t bytes = count * size_of(dtype), payload = payload_of(bytes);
        hold(with_everybody(payload, payload, payload > 0, payload > 0));
        const void* sent = with_flip(send, bytes, {{0, payload}});
        inner_->all_gather(sent, count, recv, dtype);
        // The bit flipped on its way to the others.
        if (sent != send) std::memmove(static_cast<std::byte*>(recv) + rank_ * bytes, send, bytes);
    }

    // Sums are not made of messages that could be checked: they are held back, but not corrupted.
    void all_reduce_sum(void* data, std::size_t count, Dtype dtype) override {
        if (!faultless()) {
            // Each rank adds up its share and sends it back.
            const std::size_t bytes = 2 * (count * size_of(dtype) / size_);
            hold(with_everybody(bytes, bytes, count > 0, count > 0));
        }
        inner_->all_reduce_sum(data, count, dtype);
    }

    void broadcast(void* data, std::size_t count, Dtype dtype, int root) override {
        if (faultless()) return inner_->broadcast(data, count, dtype, root);
        check_root(root, size_);
        const std::size_t bytes = count * size_of(dtype), payload = payload_of(bytes);
        if (rank_ != root) {
            hold(with_one(root, 0, payload, false, payload > 0));
            return inner_->broadcast(data, count, dtype, root);
        }
        hold(with_everybody(payload, 0, payload > 0, false));
        const void* sent = with_flip(data, bytes, {{0, payload}});
        // The root's buffer is only read, and here it is either the caller's or our own.
        inner_->broadcast(sent == data ? data : flipped_.data(), count, dtype, root);
    }

    void send(const void* data, std::size_t count, Dtype dtype, int to) override {
        if (faultless()) return inner_->send(data, count, dtype, to);
        check_peer(to, rank_, size_, "send");
        const std::size_t bytes = count * size_of(dtype), payload = payload_of(bytes);
        hold(with_one(to, payload, 0, payload > 0, false));
        inner_->send(with_flip(data, bytes, {{0, payload}}), count, dtype, to);
    }

    void recv(void* data, std::size_t count, Dtype dtype, int from) override {
        if (!faultless()) {
            check_peer(from, rank_, size_, "recv");
            const std::size_t payload = payload_of(count * size_of(dtype));
            hold(with_one(from, 0, payload, false, payload > 0));
        }
        inner_->recv(data, count, dtype, from);
    }

    void barrier() override {
        if (!faultless()) hold(with_everybody(0, 0, true, true));
        inner_->barrier();
    }

    void abort(const std::string& why) noexcept override {
        inner_->abort(why);
        try {
            break_for("aborted: " + why);
        } catch (const std::exception&) {
            // Out of memory for the text: a hold under way ends by itself and then finds the inner
            // communicator broken.
        }
    }

    std::unique_ptr<Communicator> shrink(std::span<const int> survivors,
                                         const std::string& key) override {
        auto child = inner_->shrink(survivors, key);
        std::vector<WorkerId> names;
        for (int survivor : survivors) names.push_back(names_[survivor]);
        auto options = options_;
        options.group = key;
        return std::make_unique<FaultLayer>(std::move(child), std::move(names), owner_,
                                            std::move(options));
    }

  private:
    using Exchange = LinkFaults::Impl::Exchange;
    using Payload = LinkFaults::Impl::Payload;

    bool faultless() const { return !faults_.active.load(std::memory_order_acquire) || size_ == 1; }

    std::size_t payload_of(std::size_t bytes) const {
        return bytes > overhead_bytes_ ? bytes - overhead_bytes_ : 0;
    }

    void add(std::vector<Exchange>& exchanges, int peer, std::size_t out, std::size_t in,
             bool sends, bool receives) const {
        if (sends || receives)
            exchanges.push_back({names_[peer], std::max(out, in), sends, receives});
    }
    std::vector<Exchange> with_one(int peer, std::size_t out, std::size_t in, bool sends,
                                   bool receives) const {
        std::vector<Exchange> exchanges;
        add(exchanges, peer, out, in, sends, receives);
        return exchanges;
    }
    std::vector<Exchange> with_everybody(std::size_t out, std::size_t in, bool sends,
                                         bool receives) const {
        std::vector<Exchange> exchanges;
        for (int peer = 0; peer < size_; ++peer) {
            if (peer != rank_) add(exchanges, peer, out, in, sends, receives);
        }
        return exchanges;
    }

    // ---- holding back
    void hold(const std::vector<Exchange>& exchanges) {
        std::unique_lock lock(faults_.mutex);
        throw_if_broken();
        const auto begun = LinkFaults::Impl::Clock::now();
        const auto broken = [&] { return is_broken(); };
        const auto unreachable =
            faults_.wait_for_cut_links(lock, exchanges, options_.timeout, broken);
        if (!unreachable && !is_broken()) faults_.wait_for_slow_links(lock, exchanges, broken);
        faults_.held += LinkFaults::Impl::Clock::now() - begun;
        throw_if_broken();
        if (unreachable) {
            lock.unlock();
            throw_unreachable(*unreachable);
        }
    }

    [[noreturn]] void throw_unreachable(WorkerId peer) {
        const std::string why = "worker " + std::to_string(names_[rank_]) +
                                " could not reach worker " + std::to_string(peer) + " for " +
                                std::to_string(options_.timeout.count()) + " s: the link is cut";
        break_for(why);
        inner_->abort(why);
        throw Unreachable(peer, why);
    }

    // ---- corruption
    /// `data`, or a copy of it with one bit of one of `payloads` flipped when that is wanted.
    const void* with_flip(const void* data, std::size_t bytes,
                          const std::vector<Payload>& payloads) {
        if (!options_.in_host_memory) return data;
        std::lock_guard lock(faults_.mutex);
        const auto bit = faults_.draw_flip(payloads);
        if (!bit) return data;
        const auto* begin = static_cast<const std::byte*>(data);
        flipped_.assign(begin, begin + bytes);
        flipped_[*bit / 8] ^= std::byte(1 << (*bit % 8));
        return flipped_.data();
    }

    // ---- being broken
    void break_for(std::string why) {
        std::lock_guard lock(faults_.mutex);
        if (broken_.empty()) broken_ = std::move(why);
        faults_.changed.notify_all();
    }
    bool is_broken() {
        const auto aborted = faults_.aborted.find(options_.group);
        if (broken_.empty() && aborted != faults_.aborted.end()) {
            broken_ = "aborted: " + aborted->second;
        }
        return !broken_.empty();
    }
    void throw_if_broken() {
        if (is_broken()) throw CommunicatorBroken(broken_);
    }

    std::unique_ptr<Communicator> inner_;
    const std::vector<WorkerId> names_;
    const std::shared_ptr<LinkFaults> owner_;
    LinkFaults::Impl& faults_;
    const FaultLayerOptions options_;
    const std::size_t overhead_bytes_;  ///< what of each message is no payload
    const int rank_, size_;
    std::string broken_;  ///< why; guarded by the mutex of faults_
    std::vector<std::byte> flipped_;
};

std::unique_ptr<Communicator> make_fault_layer(std::unique_ptr<Communicator> inner,
                                               std::vector<WorkerId> names,
                                               std::shared_ptr<LinkFaults> faults,
                                               FaultLayerOptions options) {
    if (!inner || !faults) throw std::invalid_argument("make_fault_layer: nothing to work on");
    if (static_cast<int>(names.size()) != inner->size()) {
        throw std::invalid_argument("make_fault_layer: " + std::to_string(names.size()) +
                                    " names for a group of " + std::to_string(inner->size()));
    }
    auto layer = std::make_unique<FaultLayer>(std::move(inner), names, std::move(faults), options);
    if (!options.checksums) return layer;
    return make_checksum_layer(std::move(layer), std::move(names));
}

}  // namespace assay::cluster
