// GlooContext: makes groups on helper threads, so that the caller can be broken out of waiting.
#include "suite/cluster/gloo/gloo.hpp"

#include <signal.h>

#include <map>
#include <mutex>
#include <utility>

#include "suite/cluster/gloo/background.hpp"
#include "suite/cluster/gloo/gloo_communicator.hpp"
#include "suite/cluster/gloo/rendezvous.hpp"

namespace assay::cluster {

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
    return make_gloo_communicator({.group = std::move(making->group),
                                   .state = making->state,
                                   .rank = rank,
                                   .size = size,
                                   .timeout = options.timeout,
                                   .make_group = std::move(again)});
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

std::unique_ptr<GroupMaker> gloo_groups(std::uint16_t port, std::chrono::duration<double> timeout) {
    GlooOptions options;
    options.port = port;
    options.timeout = std::chrono::milliseconds(static_cast<long>(timeout.count() * 1000));
    return std::make_unique<GlooContext>(std::move(options));
}

void GlooContext::abort(const std::string& key, const std::string& why) noexcept {
    try {
        impl_->state_of(key)->break_for(why);
    } catch (const std::exception&) {
        // Out of memory for the text; nothing better can be done without throwing.
    }
}

}  // namespace assay::cluster
