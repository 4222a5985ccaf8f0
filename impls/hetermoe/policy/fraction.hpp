// Exact rational numbers over 128 bits. Times of a plan are whole nanoseconds divided by experts,
// GPUs and a decimal factor; what does not fit any more is refused, never rounded.
#pragma once

#include <compare>
#include <cstdint>

#include "suite/base/error.hpp"

namespace assay::hetermoe {

__extension__ using Wide = __int128;

/// Thrown where a result needs more than 127 bits.
class TooLargeToStayExact : public UserError {
  public:
    TooLargeToStayExact()
        : UserError(
              "these numbers cannot be planned exactly: their products need more than 127 bits; "
              "give shorter times, or fewer digits") {}
};

inline Wide checked_product(Wide a, Wide b) {
    Wide result = 0;
    if (__builtin_mul_overflow(a, b, &result)) throw TooLargeToStayExact();
    return result;
}

inline Wide checked_sum(Wide a, Wide b) {
    Wide result = 0;
    if (__builtin_add_overflow(a, b, &result)) throw TooLargeToStayExact();
    return result;
}

/// ⌊a / b⌋ and ⌈a / b⌉ for b > 0.
inline Wide floor_div(Wide a, Wide b) { return a / b - (a % b < 0 ? 1 : 0); }
inline Wide ceil_div(Wide a, Wide b) { return a / b + (a % b > 0 ? 1 : 0); }

class Fraction {
  public:
    Fraction(Wide whole = 0) : numerator_(whole) {}
    /// `denominator` must not be 0.
    Fraction(Wide numerator, Wide denominator);

    Wide numerator() const { return numerator_; }
    Wide denominator() const { return denominator_; }  ///< above 0; reduced
    Wide floor() const { return floor_div(numerator_, denominator_); }
    long double long_value() const {
        return static_cast<long double>(numerator_) / static_cast<long double>(denominator_);
    }
    double value() const { return static_cast<double>(long_value()); }

    friend Fraction operator+(const Fraction& a, const Fraction& b);
    friend Fraction operator-(const Fraction& a, const Fraction& b) { return a + b * -1; }
    friend Fraction operator*(const Fraction& a, const Fraction& b);
    /// `b` must not be 0.
    friend Fraction operator/(const Fraction& a, const Fraction& b) {
        return a * Fraction(b.denominator_, b.numerator_);
    }
    /// Exact also where a cross product would not fit.
    friend std::strong_ordering operator<=>(const Fraction& a, const Fraction& b);
    friend bool operator==(const Fraction& a, const Fraction& b) {
        return a.numerator_ == b.numerator_ && a.denominator_ == b.denominator_;
    }

  private:
    Wide numerator_ = 0, denominator_ = 1;
};

/// The number that the shortest decimal text of `value` names: 0.45 is 9/20. `value` is finite.
Fraction decimal_fraction(double value);

}  // namespace assay::hetermoe
