// A worker that does what its config says, and the other end of the conversation.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "suite/cluster/processes/supervisor.hpp"

namespace assay::cluster {

/// config: {"do": "echo" | "exit" | "throw" | "never_start" | "say_and_exit" | "list_fds" |
/// "spin" | "garbage"}
inline int scripted_worker(WorkerId id, ControlChannel& control, const nlohmann::json& config) {
    const std::string what = config.at("do");
    if (what == "never_start") {
        while (true) std::this_thread::sleep_for(std::chrono::hours(1));
    }
    control.start(Seconds(config.value("interval", 0.02)));
    if (what == "exit") return config.at("status");
    if (what == "throw") throw std::runtime_error("scripted failure");
    if (what == "say_and_exit") {
        for (int i = 0; i < config.at("messages"); ++i) control.send({{"i", i}});
        return 0;
    }
    if (what == "list_fds") {
        std::vector<std::string> targets;
        for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
            std::error_code gone;  // the iterator's own
            const auto target = std::filesystem::read_symlink(entry.path(), gone);
            if (!gone) targets.push_back(entry.path().filename().string() + " " + target.string());
        }
        control.send({{"fds", targets}});
    }
    control.send({{"ready", id}});
    for (volatile bool spin = what == "spin"; spin;) continue;
    while (auto body = control.receive()) {
        if (body->value("type", "") == "stop_requested") {
            control.send({{"stopping", control.stop_requested()}});
            return 0;
        }
        control.send({{"echo", *body}});
    }
    return 0;
}

/// The next event of type T from a supervisor; others are passed over. Fails the test after 30 s.
template <class T>
std::optional<T> next_of(Supervisor& supervisor) {
    const double deadline = supervisor.now_s() + 30;
    while (supervisor.now_s() < deadline) {
        auto event = supervisor.next(Seconds(0.1));
        if (event && std::holds_alternative<T>(*event)) return std::get<T>(std::move(*event));
    }
    ADD_FAILURE() << "no such event came";
    return std::nullopt;
}

}  // namespace assay::cluster
