// The only file that includes libtorch's distributed headers; see gloo.hpp for the contract.
//
// c10d's process group cannot be interrupted: an operation that waits for a silent peer ends with
// its timeout, and the destructor waits for it. So a broken group is left to a thread that destroys
// it when the operation has ended by itself.
#include "suite/cluster/gloo/gloo.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <list>
#include <map>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "suite/cluster/communicator_arguments.hpp"
#include "suite/cluster/file_descriptor.hpp"
#include "suite/cluster/gloo/breakable_wait.hpp"

namespace assay::cluster {
namespace {

using Store = c10::intrusive_ptr<c10d::Store>;
using Group = c10::intrusive_ptr<c10d::ProcessGroupGloo>;
using Work = c10::intrusive_ptr<c10d::Work>;
using Completion = BreakableWait::Completion;

at::ScalarType scalar_type(Dtype dtype) {
    switch (dtype) {
        case Dtype::u8:
            return at::kByte;
        case Dtype::i64:
            return at::kLong;
        case Dtype::f32:
            return at::kFloat;
        case Dtype::f64:
            return at::kDouble;
        case Dtype::bf16:
            return at::kBFloat16;
    }
    throw std::invalid_argument("unknown dtype");
}

Store connect(const GlooOptions& options) {
    c10d::TCPStoreOptions store;
    store.port = options.port;
    store.timeout = options.timeout;
    store.waitWorkers = false;
    return c10::make_intrusive<c10d::TCPStore>(options.host, store);
}

/// c10d notes every group at its first operation in a map of the whole process, without a lock (the
/// flight recorder of torch 2.11, see switch_off_flight_recorder()). So one operation starts at a
/// time; to start it only queues it.
std::mutex starting;

/// What goes on when the caller has turned away: threads that make groups, and one that closes
/// them when they are not busy any more. Closing waits for a turn of Gloo's event loop per peer (up
/// to 10 ms each), which nobody who regroups has to spare.
///
/// All of it ends before the statics of libtorch go, as far as it can be ended. The object itself
/// stays: static communicators may be destroyed later.
class Background {
  public:
    static Background& instance() {
        static Background* const background = new Background;
        static const AtExit at_exit{*background};
        return *background;
    }

    /// Runs `work` on a thread of its own.
    void start(std::function<void()> work) {
        std::lock_guard lock(mutex_);
        std::thread([this, work = std::move(work)]() mutable {
            work();
            work = nullptr;  // what it alone held goes before the thread counts as ended
            std::lock_guard lock(mutex_);
            --makers_;
            changed_.notify_all();
        }).detach();
        ++makers_;
    }

    /// `last`: the newest operation; null when there was none.
    void close(Group group, std::shared_ptr<BreakableWait> state,
               std::shared_ptr<Completion> last) {
        std::lock_guard lock(mutex_);
        if (ending_) return leave_open(std::move(group));
        arrived_.push_back({std::move(group), std::move(state), std::move(last)});
        changed_.notify_all();
    }

    bool ending() const { return ending_; }

  private:
    struct AtExit {
        Background& background;
        ~AtExit() { background.end(); }
    };
    struct Entry {
        Group group;
        std::shared_ptr<BreakableWait> state;
        std::shared_ptr<Completion> last;
        bool busy() const { return last && !state->done(*last); }
    };

    Background() : closer_([this] { close_groups(); }) {}

    void end() {
        std::unique_lock lock(mutex_);
        ending_ = true;
        changed_.notify_all();
        // Longer than those need that can end. The others wait inside Gloo for a peer that is gone.
        changed_.wait_for(lock, std::chrono::seconds(1), [&] { return makers_ == 0; });
        lock.unlock();
        closer_.join();
        // What is still busy would be waited for.
        for (Entry& entry : busy_) leave_open(std::move(entry.group));
        busy_.clear();
    }

    /// The process ends, and its connections with it.
    static void leave_open(Group group) { group.release(); }

    void close_groups() {
        std::unique_lock lock(mutex_);
        while (!ending_) {
            const auto woken = [&] { return ending_ || !arrived_.empty(); };
            if (busy_.empty()) {
                changed_.wait(lock, woken);
            } else {
                changed_.wait_for(lock, std::chrono::milliseconds(100), woken);
            }
            std::list<Entry> all = std::move(arrived_);
            arrived_.clear();
            lock.unlock();
            all.splice(all.end(), busy_);
            for (Entry& entry : all) {
                if (entry.busy()) {
                    busy_.push_back(std::move(entry));
                } else if (ending_) {
                    leave_open(std::move(entry.group));
                } else {
                    entry.group.reset();
                }
            }
            lock.lock();
        }
        busy_.splice(busy_.end(), arrived_);
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::list<Entry> arrived_;
    std::list<Entry> busy_;  ///< the closer's own
    long makers_ = 0;
    std::atomic<bool> ending_{false};
    std::thread closer_;  // last: it uses the others
};

/// What the members of a group tell each other before they are connected. Waiting ends when the
/// group is broken or nobody has come for `timeout`, whatever Gloo asks for.
class MeetingPlace final : public c10d::PrefixStore {
  public:
    MeetingPlace(const std::string& key, c10::intrusive_ptr<c10d::Store> store,
                 std::shared_ptr<BreakableWait> state, std::chrono::milliseconds timeout)
        : PrefixStore(key, std::move(store)), state_(std::move(state)), timeout_(timeout) {}

    void await_all(int rank, int size) {
        std::vector<std::string> members;
        for (int member = 0; member < size; ++member) {
            members.push_back("here/" + std::to_string(member));
        }
        set(members[rank], std::vector<std::uint8_t>{1});
        wait(members);
    }

    void wait(const std::vector<std::string>& keys) override { wait(keys, timeout_); }
    void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds&) override {
        // By asking again and again: the store's own waiting cannot be interrupted. Who has waited
        // for long asks less often.
        using Clock = std::chrono::steady_clock;
        const auto begun = Clock::now();
        while (!check(keys)) {
            state_->throw_if_broken();
            if (Background::instance().ending()) throw CommunicatorBroken("the process ends");
            const auto waited = Clock::now() - begun;
            if (waited >= timeout_) throw CommunicatorBroken("a member did not come in time");
            std::this_thread::sleep_for(std::clamp<Clock::duration>(
                waited / 8, std::chrono::microseconds(200), std::chrono::milliseconds(10)));
        }
    }

  private:
    std::shared_ptr<BreakableWait> state_;
    const std::chrono::milliseconds timeout_;
};

}  // namespace

// ---- rendezvous
// ----------------------------------------------------------------------------------
struct RendezvousServer::Impl {
    c10::intrusive_ptr<c10d::TCPStore> store;
    std::uint16_t port = 0;
};

RendezvousServer::RendezvousServer() : impl_(std::make_unique<Impl>()) {
    // Left to itself the store binds every interface: it gets a socket bound to loopback.
    FileDescriptor socket(
        check_call(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket for the rendezvous"));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    check_call(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), length),
               "bind a port of 127.0.0.1 for the rendezvous");
    check_call(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length),
               "port of the rendezvous");
    impl_->port = ntohs(address.sin_port);

    c10d::TCPStoreOptions options;
    options.port = impl_->port;
    options.isServer = true;
    options.waitWorkers = false;
    options.masterListenFd = socket.release();  // the store closes it, also when it cannot start
    // libuv registers fork handlers that close descriptors by number in every later child of this
    // process, whoever owns them by then: a second fork server could not be started.
    options.useLibUV = false;
    options.timeout = std::chrono::seconds(10);  // of its own connection to itself
    try {
        impl_->store = c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options);
    } catch (const std::exception& error) {
        throw std::runtime_error(
            "no rendezvous on 127.0.0.1:" + std::to_string(impl_->port) +
            ": is the loopback interface up? (" +
            std::string(error.what()).substr(0, std::strcspn(error.what(), "\n")) + ")");
    }
}

RendezvousServer::~RendezvousServer() = default;

std::uint16_t RendezvousServer::port() const { return impl_->port; }

// ---- context
// -------------------------------------------------------------------------------------
struct GlooContext::Impl : std::enable_shared_from_this<GlooContext::Impl> {
    explicit Impl(GlooOptions how) : options(std::move(how)) {}

    std::shared_ptr<BreakableWait> state_of(const std::string& key) {
        std::lock_guard lock(mutex);
        auto& state = states[key];
        if (!state) state = std::make_shared<BreakableWait>();
        return state;
    }

    std::unique_ptr<Communicator> make_group(const std::string& key, int rank, int size);

    const GlooOptions options;
    Store store;                                        ///< null: connect anew
    std::shared_ptr<::gloo::transport::Device> device;  ///< null: make one
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<BreakableWait>> states;  ///< by key
};

namespace {

/// What a helper thread builds while the caller waits for it with an eye on abort(): finding the
/// other members blocks inside the store's client.
struct Making {
    std::shared_ptr<BreakableWait> state;
    std::shared_ptr<Completion> completion = std::make_shared<Completion>();
    Store store;
    std::shared_ptr<::gloo::transport::Device> device;
    Group group;
};

/// Gloo waits for a peer's connection with a callback into objects that it frees when that takes
/// longer than it is told, without withdrawing the callback: a late peer would reach what is gone.
/// So it waits on. When a member is lost in the few milliseconds between its coming and its
/// connecting, this is for ever, with a thread and a device that nobody else uses.
constexpr std::chrono::hours for_ever{24};

void make(Making& making, const GlooOptions& options, const std::string& key, int rank, int size) {
    if (!making.store) making.store = connect(options);
    if (!making.device) {
        making.device = c10d::ProcessGroupGloo::createDeviceForHostname(options.host);
    }
    const auto place =
        c10::make_intrusive<MeetingPlace>(key, making.store, making.state, options.timeout);
    place->await_all(rank, size);
    auto how = c10d::ProcessGroupGloo::Options::create(for_ever);
    how->devices.push_back(making.device);
    how->threads = 2;
    making.group = c10::make_intrusive<c10d::ProcessGroupGloo>(place, rank, size, how);
    making.group->setTimeout(options.timeout);
}

class GlooCommunicator final : public Communicator {
  public:
    /// `shrink` makes a further group of the same context.
    using MakeGroup = std::function<std::unique_ptr<Communicator>(const std::string&, int, int)>;

    /// `group` is null in a group of one: nothing ever leaves it.
    GlooCommunicator(Group group, std::shared_ptr<BreakableWait> state, int rank, int size,
                     std::chrono::milliseconds timeout, MakeGroup make_group)
        : group_(std::move(group)),
          state_(std::move(state)),
          rank_(rank),
          size_(size),
          timeout_(timeout),
          make_group_(std::move(make_group)) {}

    ~GlooCommunicator() override { leave(); }

    int rank() const override { return rank_; }
    int size() const override { return size_; }

    // Data that is only moved travels as bytes, whatever it is.
    void all_to_all_v(const void* send, std::span<const std::int64_t> send_counts, void* recv,
                      std::span<const std::int64_t> recv_counts, Dtype dtype) override {
        const auto element = static_cast<std::int64_t>(size_of(dtype));
        const auto out_bytes = checked_total(send_counts, size_, "send_counts") * element;
        const auto in_bytes = checked_total(recv_counts, size_, "recv_counts") * element;
        state_->throw_if_broken();
        if (size_ == 1) {
            if (out_bytes != in_bytes) {
                throw std::invalid_argument("all_to_all_v: one rank sends itself what it receives");
            }
            return copy(recv, send, in_bytes);
        }
        std::vector<std::int64_t> out_split(send_counts.begin(), send_counts.end());
        std::vector<std::int64_t> in_split(recv_counts.begin(), recv_counts.end());
        for (auto& count : out_split) count *= element;
        for (auto& count : in_split) count *= element;
        at::Tensor out = bytes(out_, out_bytes), in = bytes(in_, in_bytes);
        copy(out.data_ptr(), send, out_bytes);
        run("all_to_all_v", [&] { return group_->alltoall_base(in, out, in_split, out_split); });
        copy(recv, in.data_ptr(), in_bytes);
    }

    void all_gather(const void* send, std::size_t count, void* recv, Dtype dtype) override {
        state_->throw_if_broken();
        const std::size_t each = count * size_of(dtype);
        if (size_ == 1) return copy(recv, send, each);
        if (each == 0) return;
        at::Tensor out = bytes(out_, each), in = bytes(in_, each * size_);
        copy(out.data_ptr(), send, each);
        run("all_gather", [&] { return group_->_allgather_base(in, out); });
        copy(recv, in.data_ptr(), each * size_);
    }

    void all_reduce_sum(void* data, std::size_t count, Dtype dtype) override {
        state_->throw_if_broken();
        if (size_ == 1 || count == 0) return;
        const std::size_t total = count * size_of(dtype);
        at::Tensor raw = bytes(out_, total);
        copy(raw.data_ptr(), data, total);
        std::vector<at::Tensor> tensors{at::from_blob(
            raw.data_ptr(), {static_cast<std::int64_t>(count)}, [raw](void*) {},
            at::TensorOptions().dtype(scalar_type(dtype)))};
        run("all_reduce_sum", [&] { return group_->allreduce(tensors); });
        copy(data, raw.data_ptr(), total);
    }

    void broadcast(void* data, std::size_t count, Dtype dtype, int root) override {
        check_root(root, size_);
        state_->throw_if_broken();
        if (size_ == 1 || count == 0) return;
        const std::size_t total = count * size_of(dtype);
        std::vector<at::Tensor> tensors{bytes(out_, total)};
        if (rank_ == root) copy(tensors[0].data_ptr(), data, total);
        c10d::BroadcastOptions options;
        options.rootRank = root;
        run("broadcast", [&] { return group_->broadcast(tensors, options); });
        if (rank_ != root) copy(data, tensors[0].data_ptr(), total);
    }

    void send(const void* data, std::size_t count, Dtype dtype, int to) override {
        check_peer(to, rank_, size_, "send");
        state_->throw_if_broken();
        if (count == 0) return;
        std::vector<at::Tensor> tensors{bytes(out_, count * size_of(dtype))};
        copy(tensors[0].data_ptr(), data, count * size_of(dtype));
        run_point_to_point("send", [&] { return group_->send(tensors, to, 0); });
    }

    void recv(void* data, std::size_t count, Dtype dtype, int from) override {
        check_peer(from, rank_, size_, "recv");
        state_->throw_if_broken();
        if (count == 0) return;
        std::vector<at::Tensor> tensors{bytes(in_, count * size_of(dtype))};
        run_point_to_point("recv", [&] { return group_->recv(tensors, from, 0); });
        copy(data, tensors[0].data_ptr(), count * size_of(dtype));
    }

    void barrier() override {
        state_->throw_if_broken();
        if (size_ > 1) run("barrier", [&] { return group_->barrier(); });
    }

    void abort(const std::string& why) noexcept override {
        try {
            state_->break_for("aborted: " + why);
        } catch (const std::exception&) {
            // Out of memory for the text; nothing better can be done without throwing.
        }
    }

    std::unique_ptr<Communicator> shrink(std::span<const int> survivors,
                                         const std::string& key) override {
        const int new_rank = rank_among(survivors, rank_, size_);
        return make_group_(key, new_rank, static_cast<int>(survivors.size()));
    }

  private:
    static void copy(void* to, const void* from, std::size_t count) {
        if (count > 0) std::memcpy(to, from, count);
    }

    /// The first `count` bytes of a buffer that is kept, so that its pages are touched only once.
    static at::Tensor bytes(at::Tensor& buffer, std::size_t count) {
        const auto wanted = static_cast<std::int64_t>(count);
        if (!buffer.defined() || buffer.numel() < wanted) {
            buffer = at::empty({std::max<std::int64_t>(wanted, 4096)}, at::kByte);
        }
        return buffer.narrow(0, 0, wanted);
    }

    template <class Start>
    static Work start_alone(Start start) {
        std::lock_guard lock(starting);
        return start();
    }

    template <class Start>
    void run(const char* what, Start start) {
        last_ = std::make_shared<Completion>();
        try {
            Work work = start_alone(start);
            work->getFuture()->addCallback([state = state_,
                                            completion = last_](c10::ivalue::Future& future) {
                state->complete(*completion, future.hasError() ? future.exception_ptr() : nullptr);
            });
        } catch (const std::exception& error) {
            fail(what, error);
        }
        try {
            state_->wait(*last_, timeout_, what);
        } catch (const CommunicatorBroken&) {
            leave();
            throw;
        }
    }

    // These have no future; their wait can be interrupted.
    template <class Start>
    void run_point_to_point(const char* what, Start start) {
        Work work;
        try {
            work = start_alone(start);
            const BreakableWait::InterruptGuard guard(*state_, [&] { work->abort(); });
            if (work->wait(timeout_)) return;
        } catch (const CommunicatorBroken&) {
            throw;
        } catch (const std::exception& error) {
            fail(what, error);
        }
        work.reset();  // withdraws its buffer; the group is not busy any more
        leave();
        state_->throw_if_broken();
        throw CommunicatorBroken(std::string(what) + " was interrupted");
    }

    [[noreturn]] void fail(const char* what, const std::exception& error) {
        state_->break_for(std::string(what) + ": " + error.what());
        last_.reset();
        leave();
        state_->throw_if_broken();
        throw CommunicatorBroken(what);
    }

    /// Gives the group away to be closed, which tells the peers.
    void leave() {
        if (group_) Background::instance().close(std::move(group_), state_, last_);
    }

    Group group_;
    std::shared_ptr<BreakableWait> state_;
    int rank_, size_;
    std::chrono::milliseconds timeout_;
    MakeGroup make_group_;
    at::Tensor out_, in_;
    std::shared_ptr<Completion> last_;  ///< of the newest collective
};

}  // namespace

std::unique_ptr<Communicator> GlooContext::Impl::make_group(const std::string& key, int rank,
                                                            int size) {
    if (size < 1 || rank < 0 || rank >= size) {
        throw std::invalid_argument("make_group(" + key + "): rank " + std::to_string(rank) +
                                    " of a group of " + std::to_string(size));
    }
    auto making = std::make_shared<Making>();
    making->state = state_of(key);
    making->state->throw_if_broken();
    if (size > 1) {
        // Given back when all went well: what a failed group leaves behind serves no other.
        making->store = std::exchange(store, nullptr);
        making->device = std::exchange(device, nullptr);
        Background::instance().start([making, key, rank, size, how = options] {
            std::exception_ptr error;
            try {
                make(*making, how, key, rank, size);
            } catch (...) {
                error = std::current_exception();
            }
            making->state->complete(*making->completion, error);
        });
        // Whatever the helper makes after an abort goes with the last reference to `making`.
        making->state->wait(*making->completion, options.timeout, "make_group");
        store = std::move(making->store);
        device = std::move(making->device);
    }
    auto again = [self = shared_from_this()](const std::string& k, int r, int s) {
        return self->make_group(k, r, s);
    };
    return std::make_unique<GlooCommunicator>(std::move(making->group), making->state, rank, size,
                                              options.timeout, std::move(again));
}

GlooContext::GlooContext(GlooOptions options) : impl_(std::make_shared<Impl>(std::move(options))) {
    // Gloo writes to sockets whose peer may have died; by default that would end this process too.
    struct sigaction current {};
    ::sigaction(SIGPIPE, nullptr, &current);
    if (current.sa_handler == SIG_DFL) ::signal(SIGPIPE, SIG_IGN);
}

GlooContext::~GlooContext() = default;

std::unique_ptr<Communicator> GlooContext::make_group(const std::string& key, int rank, int size) {
    return impl_->make_group(key, rank, size);
}

void GlooContext::abort(const std::string& key, const std::string& why) noexcept {
    try {
        impl_->state_of(key)->break_for(why);
    } catch (const std::exception&) {
        // Out of memory for the text; nothing better can be done without throwing.
    }
}

}  // namespace assay::cluster
