// Ports for tests: each with link faults of its own, and a record of how its transfers ended.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "suite/cluster/transfers/transfer_port.hpp"
#include "tests/base/temporary_folder.hpp"

namespace assay::cluster {

inline std::vector<std::byte> random_bytes(std::size_t size, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::byte> bytes(size);
    for (std::byte& byte : bytes) byte = std::byte(random());
    return bytes;
}

inline bool equal(std::span<const std::byte> a, std::span<const std::byte> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

struct Ending {
    bool arrived = false;
    std::uint64_t done = 0;
    std::string why;
};

/// What the events of a port said.
class Endings {
  public:
    TransferEvents events() {
        return {[this](std::uint64_t id) { add(id, {.arrived = true}); },
                [this](std::uint64_t id, std::uint64_t done, const std::string& why) {
                    add(id, {.done = done, .why = why});
                }};
    }
    /// The first one of that transfer; fails the test when none comes for very long.
    Ending wait_for(std::uint64_t id) {
        std::unique_lock lock(mutex_);
        const bool came =
            came_.wait_for(lock, std::chrono::seconds(60), [&] { return endings_.count(id) > 0; });
        if (came) return endings_.find(id)->second;
        ADD_FAILURE() << "transfer " << id << " has not ended";
        return {};
    }
    std::size_t count() {
        std::lock_guard lock(mutex_);
        return endings_.size();
    }

  private:
    void add(std::uint64_t id, Ending ending) {
        std::lock_guard lock(mutex_);
        endings_.emplace(id, std::move(ending));
        came_.notify_all();
    }
    std::mutex mutex_;
    std::condition_variable came_;
    std::multimap<std::uint64_t, Ending> endings_;
};

struct TestPort {
    explicit TestPort(WorkerId name, NicLimits nic = {}, Seconds timeout = Seconds(60))
        : self(name), links(std::make_shared<LinkFaults>(name, 1)) {
        port.emplace(TransferPortOptions{self, links, nic, timeout}, endings.events());
    }
    WorkerId self;
    std::shared_ptr<LinkFaults> links;
    Endings endings;
    std::optional<TransferPort> port;
};

/// Says the order to both ends.
inline void start(const TransferOrder& order, TestPort& from, TestPort& to) {
    to.port->expect(order);
    from.port->send(order, to.port->port());
}

inline TransferOrder order_of(std::uint64_t id, const TestPort& from, const TestPort& to,
                              const std::string& object, std::uint64_t offset,
                              std::uint64_t bytes) {
    return {id, from.self, to.self, object, offset, bytes, draw_transfer_token()};
}

/// Two workers and an object "w": worker 7 has it, worker 9 has room for it.
class Transfers : public ::testing::Test {
  protected:
    void make(std::size_t size, NicLimits sender = {}, NicLimits receiver = {},
              Seconds timeout = Seconds(60)) {
        from.emplace(7, sender, timeout);
        to.emplace(9, receiver, timeout);
        source = random_bytes(size, size);
        target = Bytes::zeros(size);
        from->port->offer("w", source_object());
        to->port->accept("w", *target);
    }
    Bytes source_object() { return from_file ? Bytes::of_file(source_file()) : Bytes::of(source); }
    std::filesystem::path source_file() {
        const auto file = folder.path() / "w";
        std::ofstream(file, std::ios::binary)
            .write(reinterpret_cast<const char*>(source.data()), std::streamsize(source.size()));
        return file;
    }
    TransferOrder order(std::uint64_t offset, std::uint64_t bytes) {
        return order_of(++last_id, *from, *to, "w", offset, bytes);
    }
    /// All of "w", to its end.
    Ending transfer() {
        const auto all = order(0, source.size());
        start(all, *from, *to);
        return to->endings.wait_for(all.id);
    }
    double transfer_s(const std::function<void()>& begin) {
        const auto begun = std::chrono::steady_clock::now();
        begin();
        EXPECT_TRUE(to->endings.wait_for(last_id).arrived);
        return Seconds(std::chrono::steady_clock::now() - begun).count();
    }
    void expect_written_up_to(std::uint64_t done) {
        ASSERT_LE(done, source.size());
        EXPECT_TRUE(equal(target->view().first(done), std::span(source).first(done)));
    }
    /// Both ports are gone then.
    void expect_endings(std::size_t receiver, std::size_t sender) {
        from->port.reset();
        to->port.reset();
        EXPECT_EQ(to->endings.count(), receiver);
        EXPECT_EQ(from->endings.count(), sender);
    }

    bool from_file = false;
    testing::TemporaryFolder folder;
    std::optional<TestPort> from, to;
    std::vector<std::byte> source;
    std::optional<Bytes> target;
    std::uint64_t last_id = 0;
};

/// The same with "w" in memory and in a file.
class TransfersFromEither : public Transfers, public ::testing::WithParamInterface<bool> {
  protected:
    TransfersFromEither() { from_file = GetParam(); }
};

inline std::string kind_of_source(const ::testing::TestParamInfo<bool>& from_file) {
    return from_file.param ? "File" : "Memory";
}

}  // namespace assay::cluster
