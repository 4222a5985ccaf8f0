// Journals of a policy's decisions: UserError, or a policy, with which the journal goes on.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "suite/base/error.hpp"
#include "suite/drive/journal.hpp"

namespace {

using namespace assay::drive;

struct Settings {
    int least = 2;
};
ASSAY_FIELDS(Settings, least)

/// Awaits some workers; a timer ends those that hang.
class Guard {
  public:
    using Event = std::variant<Joined, Died, Timer, Idle>;
    using Action = std::variant<StartTimer, Evict, Stop>;
    explicit Guard(Settings settings) : least_(settings.least) {}

    void on(const Event& event, double now_s, std::vector<Action>& actions) {
        if (const auto* joined = std::get_if<Joined>(&event)) {
            last_ = joined->worker;
            if (++workers_ >= least_) actions.push_back(StartTimer{timers_++, now_s / 2});
        } else if (std::holds_alternative<Timer>(event)) {
            actions.push_back(Evict{last_, "it hangs"});
        } else if (std::holds_alternative<Died>(event)) {
            --workers_;
        } else {
            actions.push_back(Stop{false, "no worker is left"});
        }
    }

  private:
    long workers_ = 0, least_;
    int last_ = -1;
    std::uint64_t timers_ = 0;
};

constexpr const char* name = "test/guard";

RestoredPolicy<Guard> restored_from(const std::string& text) {
    std::istringstream in(text);
    return restored<Guard>(in, name, Settings{});
}

void require(bool holds) {
    if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const auto path = std::filesystem::temp_directory_path() /
                             ("assay-journal-fuzz-" + std::to_string(::getpid()));
    const std::string text(reinterpret_cast<const char*>(data), size);
    std::optional<RestoredPolicy<Guard>> was;
    try {
        was = restored_from(text);
    } catch (const assay::UserError&) {
        return 0;
    }
    std::ofstream(path, std::ios::binary) << text;
    Journal journal = Journal::continued(path, name, Settings{});
    RecordedPolicy<Guard> policy([&](const auto& one) { journal.append(one); },
                                 std::move(was->policy));
    policy.on(Joined{3, true}, 7);
    const auto actions = policy.on(Timer{0}, 8);
    std::ifstream in(path, std::ios::binary);
    const auto then = restored<Guard>(in, name, Settings{});
    require(then.decisions == was->decisions + 2 && then.now_s == 8);
    require(then.last_actions == actions);
    std::filesystem::remove(path);
    return 0;
}
