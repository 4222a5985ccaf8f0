// What an operation reaches on a device, fitted to measured durations of it. Pure: where the
// durations are from is for the caller to say.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "suite/scenario/cost_model.hpp"

namespace assay {

/// One measured duration of an operation whose work is known.
struct TimedWork {
    Work work;
    double seconds = 0;
    std::string origin;  ///< for tables of residuals: the sample, its case
};

/// seconds ≈ roofline_s(device, work) / efficiency + kernels · launch_s
struct OperationFit {
    double efficiency = 0;          ///< above 0, at most 1
    double efficiency_error = 0;    ///< standard error, from the scatter of the residuals
    double launch_s = 0;            ///< at least 0
    double launch_error_s = 0;      ///< 0 where it was not fitted
    bool launch_fitted = false;     ///< false: it was given, or came out below 0 and was set to it
    std::vector<double> residuals;  ///< [i] of timed[i]: modelled over measured, less one
    double worst() const;           ///< the residual furthest from 0, with its sign
    double median() const;          ///< of their absolute values
};

/// The samples do not tell what is asked of them; a sentence that says what to measure or to give.
class FitError : public UserError {
    using UserError::UserError;
};

/// Least squares of relative residuals, so that small sizes count as much as large ones. `name`: of
/// the operation, for messages. `launch_s`: given, and not fitted. Throws FitError
/// * for fewer samples than the unknowns and one more, durations or works that are not above 0;
/// * where every sample has about the same work per kernel: efficiency and launches cannot be told
///   apart (give the launch);
/// * where durations do not grow with the work, or scatter so much that the efficiency is not known
///   to within a factor of two;
/// * where the efficiency comes out above 1: the device's peaks are too low, or the work is
///   overstated.
OperationFit fit_operation(const std::string& name, const DeviceProfile& device,
                           std::span<const TimedWork> timed, std::optional<double> launch_s = {});

}  // namespace assay
