// A text for trainings of seconds.
#pragma once

#include <string>

namespace assay::nn {

/// Lines "17 + 5 = 22": structure enough to learn something within a hundred steps.
inline std::string sums(int lines) {
    std::string text;
    for (int i = 0; i < lines; ++i) {
        const int a = i * 7 % 31, b = i * 13 % 17;
        text +=
            std::to_string(a) + " + " + std::to_string(b) + " = " + std::to_string(a + b) + "\n";
    }
    return text;
}

}  // namespace assay::nn
