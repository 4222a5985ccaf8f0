#include "suite/measure/machine_probe_threads.hpp"

#include <barrier>
#include <chrono>
#include <thread>
#include <vector>

namespace assay::measure {

double rounds_per_second(int threads, double seconds,
                         const std::function<void(int thread)>& round) {
    using Clock = std::chrono::steady_clock;
    const auto length = std::chrono::duration<double>(seconds);
    std::vector<long> rounds(static_cast<std::size_t>(threads));
    Clock::time_point start;
    std::barrier together(threads, [&]() noexcept { start = Clock::now(); });
    std::vector<std::jthread> team;
    for (int thread = 0; thread < threads; ++thread)
        team.emplace_back([&, thread] {
            together.arrive_and_wait();
            long done = 0;
            do {
                round(thread);
                ++done;
            } while (Clock::now() - start < length);
            rounds[static_cast<std::size_t>(thread)] = done;
        });
    for (std::jthread& member : team) member.join();
    const double taken = std::chrono::duration<double>(Clock::now() - start).count();
    long all = 0;
    for (const long done : rounds) all += done;
    return static_cast<double>(all) / taken;
}

}  // namespace assay::measure
