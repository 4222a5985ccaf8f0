// What a schedule is played on, and who plays it: a service that deals requests to engines, takes
// them back from those that are lost or silent, and brings new weights, on either clock.
#pragma once

#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "impls/decode/campaign/answers_alone.hpp"
#include "impls/decode/campaign/heard_requests.hpp"
#include "impls/decode/campaign/served_models.hpp"
#include "impls/decode/service/engines.hpp"
#include "suite/drive/campaign/campaign.hpp"
#include "suite/experiment/recorder.hpp"

namespace assay::decode {

/// Of what is drawn; times in scenario seconds.
struct ScheduleBounds {
    std::uint64_t seed = 0;  ///< its first fault's kind takes turns
    ServedModel model;
    StepCost cost;
    RequestDraw requests;
    std::uint64_t fewest_engines = 1;  ///< or up to two more
    double horizon_s = 0;              ///< in which requests and troubles come
    double most_hang_s = 0, most_load_s = 0;
    double patience_s = 0;  ///< with an engine's silence
    double longest_s = 0;   ///< of a whole schedule
};

class ScheduledService final : private Chooser {
  public:
    /// All of them outlive it. `driver`: of an engine_role() of the model, and `recorder` its.
    ScheduledService(const ScheduleBounds& bounds, Misdeed misdeed, std::mt19937_64& random,
                     drive::Driver& driver, const MemoryRecorder& recorder);
    drive::SeedOutcome run();

  private:
    struct Host {
        EngineClient* engine = nullptr;
        double asked_s = 0;  // when it was given the last of its requests
        int asked = 0;       // version of the weights
        bool committing = false;
        bool given_up = false;  // it was silent: its requests are elsewhere until it is heard again
        double given_up_s = 0;
        double patience_s = 0;  // with its silence
        bool gone = false;
    };
    enum class Trouble { kill, hang, slow, corrupt, nan, wipe, publish, move };

    std::uint64_t below(std::uint64_t n) { return random_() % n; }
    double seconds(double most) { return static_cast<double>(below(1024)) / 1024 * most; }
    double now_s() const { return driver_.now(); }
    void wake_at(double t_s);

    void draw();
    std::string weights_of(int version) const;
    void start_engine();

    void turn();
    void hear(Host& host);
    void bring_weights(Host& host);
    void ask();
    void hear(const Done& done);
    void give_up_the_silent();
    void replace_the_lost();
    /// Of the newest weights that its tokens have, or newer; where fewest are.
    std::optional<Seat> choose(Number request, std::span<const Place> places) override;

    Host* one_of_the_live();
    void make(Trouble trouble);
    void strike(const Host& host, Fault fault);
    void move(Host& from);
    void check_refusals() const;

    void check_the_end();
    void check_engine(EngineClient& engine);
    void count_faults();

    const ScheduleBounds& bounds_;
    Misdeed misdeed_;
    std::mt19937_64& random_;
    drive::Driver& driver_;
    const MemoryRecorder& recorder_;
    Engines engines_;
    EngineSettings settings_;
    bool equal_weights_ = true;
    bool keeps_ = false;  // sequences under pressure: then weights do not change
    std::uint64_t wanted_engines_ = 1;
    int published_ = 1;
    HeardRequests requests_;
    std::map<Number, std::size_t> numbers_;  // of all that were asked
    std::vector<std::size_t> to_come_;
    std::vector<Number> kept_;
    std::deque<Host> hosts_;
    std::multimap<double, Trouble> troubles_;
    AnswersAlone alone_;
    std::map<std::string, long> counts_;
    std::string says_;
};

}  // namespace assay::decode
