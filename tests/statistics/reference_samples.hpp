// Samples with which reference values were computed elsewhere; each test names by what.
#pragma once

#include <vector>

namespace assay::statistics {

/// Skewed, like run times.
inline const std::vector<double> kFifty = {
    9.31, 12.72, 13.22, 10.66, 10.86, 9.07, 8.33,  8.35, 8.19,  12.04, 9.89,  10.26, 8.8,
    8.04, 7.86,  8.45,  11.27, 10.04, 9.13, 9.53,  7.52, 12.79, 7.84,  10.09, 15.33, 6.0,
    7.55, 8.65,  10.24, 7.1,   9.54,  9.94, 10.35, 6.2,  11.38, 13.76, 10.91, 8.65,  8.85,
    5.89, 11.0,  13.51, 11.39, 5.51,  9.18, 9.8,   9.08, 12.3,  7.05,  8.66};

/// Two small ones without ties.
inline const std::vector<double> kEight = {10.6, 10.99, 10.17, 11.06, 10.52, 8.94, 11.29, 9.49};
inline const std::vector<double> kSeven = {9.37, 11.44, 12.81, 11.96, 12.0, 11.19, 8.53};

/// Two with many.
inline const std::vector<double> kTiedA = {11, 10, 5, 9, 8, 12, 10, 11, 10, 7, 6, 10, 9, 10};
inline const std::vector<double> kTiedB = {11, 11, 13, 12, 10, 8,  6,  9, 11,
                                           13, 11, 13, 14, 16, 12, 14, 12};

}  // namespace assay::statistics
