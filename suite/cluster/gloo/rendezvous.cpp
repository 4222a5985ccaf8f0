#include "suite/cluster/gloo/rendezvous.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <utility>

#include "suite/base/file_descriptor.hpp"
#include "suite/cluster/gloo/background.hpp"

namespace assay::cluster {

Store connect(const GlooOptions& options) {
    c10d::TCPStoreOptions store;
    store.port = options.port;
    store.timeout = options.timeout;
    store.waitWorkers = false;
    return c10::make_intrusive<c10d::TCPStore>(options.host, store);
}

void MeetingPlace::await_all(int rank, int size) {
    std::vector<std::string> members;
    for (int member = 0; member < size; ++member) {
        members.push_back("here/" + std::to_string(member));
    }
    set(members[rank], std::vector<std::uint8_t>{1});
    wait(members);
}

void MeetingPlace::wait(const std::vector<std::string>& keys, const std::chrono::milliseconds&) {
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

namespace {

class StoreRendezvous final : public Rendezvous {
  public:
    explicit StoreRendezvous(GlooOptions options) : options_(std::move(options)) {}

    std::vector<std::string> exchange(const std::string& key, int rank, int size,
                                      const std::string& mine,
                                      const std::shared_ptr<BreakableWait>& state,
                                      std::chrono::milliseconds timeout) override {
        try {
            // Given back when all went well: what a failed exchange leaves behind serves no other.
            Store store = std::exchange(store_, nullptr);
            if (!store) store = cluster::connect(options_);
            const auto place = c10::make_intrusive<MeetingPlace>(key, store, state, timeout);
            std::vector<std::string> members, said;
            for (int member = 0; member < size; ++member)
                members.push_back("says/" + std::to_string(member));
            place->set(members.at(static_cast<std::size_t>(rank)),
                       std::vector<std::uint8_t>(mine.begin(), mine.end()));
            place->wait(members);
            for (const auto& member : members) {
                const auto bytes = place->get(member);
                said.emplace_back(bytes.begin(), bytes.end());
            }
            store_ = std::move(store);
            return said;
        } catch (const CommunicatorBroken&) {
            throw;
        } catch (const std::exception& error) {
            throw CommunicatorBroken(key + ": no rendezvous: " + error.what());
        }
    }

  private:
    const GlooOptions options_;
    Store store_;  ///< null: connect anew
};

}  // namespace

std::unique_ptr<Rendezvous> connect_rendezvous(GlooOptions options) {
    return std::make_unique<StoreRendezvous>(std::move(options));
}

// The server.

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

}  // namespace assay::cluster
