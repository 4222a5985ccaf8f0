// Transfers whose sender or receiver is a process that is killed.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <thread>

#include "suite/base/file_descriptor.hpp"
#include "suite/cluster/transfers/connection.hpp"
#include "suite/cluster/transfers/wire.hpp"
#include "tests/cluster/transfers/ports.hpp"

namespace assay::cluster {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr char kToken[] = "0123456789abcdef";

/// A forked process, with a pipe each way; made before this one has threads.
class Child {
  public:
    explicit Child(const std::function<void(Child&)>& body) {
        int down[2], up[2];
        check_call(::pipe2(down, O_CLOEXEC), "pipe");
        check_call(::pipe2(up, O_CLOEXEC), "pipe");
        pid_ = check_call(::fork(), "fork");
        const bool child = pid_ == 0;
        in_.reset(child ? down[0] : up[0]);
        out_.reset(child ? up[1] : down[1]);
        ::close(child ? down[1] : down[0]);
        ::close(child ? up[0] : up[1]);
        if (!child) return;
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        body(*this);
        ::_exit(0);
    }
    ~Child() { end(SIGKILL); }

    void say(std::uint64_t number) {
        if (::write(out_.get(), &number, sizeof number) != sizeof number) ::abort();
    }
    std::uint64_t hear() {
        std::uint64_t number = 0;
        if (::read(in_.get(), &number, sizeof number) != sizeof number) return ~std::uint64_t{0};
        return number;
    }
    void signal(int number) { ::kill(pid_, number); }
    void end(int number) {
        if (pid_ <= 0) return;
        signal(number);
        ::waitpid(std::exchange(pid_, -1), nullptr, 0);
    }

  private:
    pid_t pid_ = -1;
    FileDescriptor in_, out_;
};

std::vector<std::byte> source_of(int worker, std::size_t size) {
    return random_bytes(size, std::uint64_t(worker));
}

bool begins_like_the_source(const Bytes& target, int worker, std::uint64_t done) {
    const auto source = source_of(worker, target.size());
    return equal(target.view().first(done), std::span(source).first(done));
}

TransferOrder order_from(int worker, WorkerId to, std::uint64_t bytes) {
    return {std::uint64_t(worker), worker, to, "w" + std::to_string(worker), 0, bytes, kToken};
}

/// Tells each child, who is worker 0, 1, …, where to send its object. What they write to.
std::vector<Bytes> expect_from_each(const std::vector<std::unique_ptr<Child>>& children,
                                    TestPort& port, int self, std::size_t size) {
    std::vector<Bytes> targets;
    for (const auto& child : children) {
        const auto order = order_from(static_cast<int>(targets.size()), self, size);
        targets.push_back(Bytes::zeros(size));
        port.port->accept(order.object, targets.back());
        port.port->expect(order);
        child->say(port.port->port());
    }
    return targets;
}

// A sender that dies at a certain byte: everything before the chunk that is torn has arrived.
TEST(TransferProcesses, ASenderKilledAtEveryTenth) {
    constexpr std::size_t chunk = 30'000, chunks = 20, size = chunk * chunks;
    constexpr int senders = 10, self = 100;
    std::vector<std::unique_ptr<Child>> children;
    for (int worker = 0; worker < senders; ++worker) {
        children.push_back(std::make_unique<Child>([=](Child& parent) {
            const auto order = order_from(worker, self, size);
            const auto source = source_of(worker, size);
            Connection connection;
            connection.connect(static_cast<std::uint16_t>(parent.hear()), Seconds(60));
            connection.send(encode_transfer_header({order.id, order.token}));
            const std::size_t last = size * worker / senders + 1000;
            for (std::size_t at = 0; at < last; at += chunk) {
                const auto content = std::span(source).subspan(at, chunk);
                connection.send(encode_chunk_header(
                                    {ChunkKind::data, chunk, chunk_checksum(order, at, content)}),
                                content.first(std::min(chunk, last - at)));
            }
            ::kill(::getpid(), SIGKILL);
        }));
    }
    TestPort port(self);
    const auto targets = expect_from_each(children, port, self, size);
    for (int worker = 0; worker < senders; ++worker) {
        const Ending ending = port.endings.wait_for(worker);
        EXPECT_FALSE(ending.arrived);
        EXPECT_EQ(ending.done, size * worker / senders / chunk * chunk);
        EXPECT_THAT(ending.why, HasSubstr("did not send all of it"));
        EXPECT_TRUE(begins_like_the_source(targets[worker], worker, ending.done));
    }
    port.port.reset();
    EXPECT_EQ(port.endings.count(), std::size_t(senders));
}

// Ports that send side by side, from memory, at 2 MB/s each, killed one after the other.
TEST(TransferProcesses, PortsKilledWhileTheySend) {
    constexpr std::size_t size = 800'000;
    constexpr int senders = 10, self = 100;
    std::vector<std::unique_ptr<Child>> children;
    for (int worker = 0; worker < senders; ++worker) {
        children.push_back(std::make_unique<Child>([=](Child& parent) {
            TestPort port(worker, {.send_bytes_s = 2e6});
            const auto order = order_from(worker, self, size);
            port.port->offer(order.object, Bytes::of(source_of(worker, size)));
            const auto receiver = static_cast<std::uint16_t>(parent.hear());
            port.port->send(order, receiver);
            parent.say(0);
            parent.hear();
        }));
    }
    TestPort port(self);
    const auto targets = expect_from_each(children, port, self, size);
    for (auto& child : children) child->hear();
    for (auto& child : children) {
        std::this_thread::sleep_for(milliseconds(35));
        child->end(SIGKILL);
    }
    int broken = 0;
    for (int worker = 0; worker < senders; ++worker) {
        const Ending ending = port.endings.wait_for(worker);
        broken += !ending.arrived;
        const std::uint64_t done = ending.arrived ? size : ending.done;
        ASSERT_LE(done, size);
        EXPECT_TRUE(begins_like_the_source(targets[worker], worker, done));
    }
    EXPECT_GT(broken, 0);
    port.port.reset();
    EXPECT_EQ(port.endings.count(), std::size_t(senders));
}

// So slow that none of them has all of it before it is killed.
TEST(TransferProcesses, ReceiversThatAreKilledAreReportedByTheSender) {
    constexpr std::size_t size = 8'000'000;
    constexpr int receivers = 5, self = 100;
    std::vector<std::unique_ptr<Child>> children;
    for (int worker = 0; worker < receivers; ++worker) {
        children.push_back(std::make_unique<Child>([=](Child& parent) {
            TestPort port(worker, {.receive_bytes_s = 1e5});
            auto order = order_from(self, worker, size);
            order.id = std::uint64_t(worker);
            port.port->accept(order.object, Bytes::zeros(size));
            port.port->expect(order);
            parent.say(port.port->port());
            parent.hear();
        }));
    }
    TestPort port(self);
    port.port->offer("w100", Bytes::zeros(size));
    for (int worker = 0; worker < receivers; ++worker) {
        auto order = order_from(self, worker, size);
        order.id = std::uint64_t(worker);
        port.port->send(order, static_cast<std::uint16_t>(children[worker]->hear()));
    }
    for (int worker = 0; worker < receivers; ++worker) {
        std::this_thread::sleep_for(milliseconds(20));
        children[worker]->end(SIGKILL);
        const Ending ending = port.endings.wait_for(worker);
        EXPECT_FALSE(ending.arrived);
        EXPECT_EQ(ending.done, 0u);
    }
    port.port.reset();
    EXPECT_EQ(port.endings.count(), std::size_t(receivers));
}

// Who is stopped is slow, not gone.
TEST(TransferProcesses, AReceiverThatIsStoppedForAWhileGetsAllOfIt) {
    constexpr std::size_t size = 3'000'000;
    constexpr int self = 100;
    Child receiver([](Child& parent) {
        TestPort port(1);
        const auto order = order_from(self, 1, size);
        const Bytes target = Bytes::zeros(size);
        port.port->accept(order.object, target);
        port.port->expect(order);
        parent.say(port.port->port());
        const bool arrived = port.endings.wait_for(order.id).arrived;
        parent.say(arrived && equal(target.view(), source_of(self, size)));
        parent.hear();
    });
    TestPort port(self, {}, Seconds(0.05));
    const auto order = order_from(self, 1, size);
    port.port->offer(order.object, Bytes::of(source_of(self, size)));
    const auto at = static_cast<std::uint16_t>(receiver.hear());
    receiver.signal(SIGSTOP);
    port.port->send(order, at);
    std::this_thread::sleep_for(milliseconds(200));
    receiver.signal(SIGCONT);
    EXPECT_EQ(receiver.hear(), 1u);
    port.port.reset();
    EXPECT_EQ(port.endings.count(), 0u);
}

}  // namespace
}  // namespace assay::cluster
