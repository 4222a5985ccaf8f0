#include "impls/lazarus/live/training_session.hpp"

#include "impls/lazarus/live/session.hpp"

namespace assay::lazarus {

SessionResult run_training(std::unique_ptr<cluster::Launcher> launcher,
                           const SessionOptions& options, Recorder& recorder) {
    return Session(std::move(launcher), options, recorder).run();
}

}  // namespace assay::lazarus
