// Names of sample states.
#include "suite/experiment/recorder.hpp"

namespace assay {

std::string_view to_string(SampleStatus status) {
    switch (status) {
        case SampleStatus::ok:
            return "ok";
        case SampleStatus::failed:
            return "failed";
        case SampleStatus::invalid:
            return "invalid";
        case SampleStatus::interrupted:
            return "interrupted";
        case SampleStatus::unsupported:
            return "unsupported";
        case SampleStatus::running:
            break;
    }
    return "running";
}

}  // namespace assay
