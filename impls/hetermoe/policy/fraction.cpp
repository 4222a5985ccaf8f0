#include "impls/hetermoe/policy/fraction.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdlib>
#include <string>

namespace assay::hetermoe {
namespace {

Wide magnitude(Wide a) { return a < 0 ? checked_product(a, -1) : a; }

Wide greatest_common_divisor(Wide a, Wide b) {
    while (b != 0) {
        const Wide rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

}  // namespace

Fraction::Fraction(Wide numerator, Wide denominator) {
    const Wide divisor = greatest_common_divisor(magnitude(numerator), magnitude(denominator)) *
                         (denominator < 0 ? -1 : 1);
    numerator_ = numerator / divisor;
    denominator_ = denominator / divisor;
}

Fraction operator+(const Fraction& a, const Fraction& b) {
    const Wide shared = greatest_common_divisor(a.denominator_, b.denominator_);
    return {checked_sum(checked_product(a.numerator_, b.denominator_ / shared),
                        checked_product(b.numerator_, a.denominator_ / shared)),
            checked_product(a.denominator_, b.denominator_ / shared)};
}

Fraction operator*(const Fraction& a, const Fraction& b) {
    // Reduced crosswise first: what then does not fit is really too large.
    const Fraction one(a.numerator_, b.denominator_), other(b.numerator_, a.denominator_);
    return {checked_product(one.numerator_, other.numerator_),
            checked_product(one.denominator_, other.denominator_)};
}

// Whole parts first, then the reciprocals of what is left, as Euclid does.
std::strong_ordering operator<=>(const Fraction& first, const Fraction& second) {
    Wide a = first.numerator_, b = first.denominator_;
    Wide c = second.numerator_, d = second.denominator_;
    for (;;) {
        const Wide whole = floor_div(a, b), other = floor_div(c, d);
        if (whole != other) return whole <=> other;
        a -= whole * b;
        c -= other * d;
        if (a == 0 || c == 0) return a <=> c;
        // a/b against c/d is d/c against b/a.
        const Wide old_a = a, old_b = b;
        a = d;
        b = c;
        c = old_b;
        d = old_a;
    }
}

Fraction decimal_fraction(double value) {
    const std::string shortest = fmt::format("{}", value);
    std::string digits;
    int exponent = 0;
    bool after_point = false;
    std::size_t at = 0;
    for (; at < shortest.size() && shortest[at] != 'e'; ++at) {
        if (shortest[at] == '.') {
            after_point = true;
        } else {
            digits += shortest[at];
            if (after_point) --exponent;
        }
    }
    if (at < shortest.size()) exponent += std::atoi(shortest.c_str() + at + 1);
    Wide numerator = 0, denominator = 1;
    for (const char c : digits)
        if (c != '-') numerator = checked_sum(checked_product(numerator, 10), c - '0');
    for (; exponent < 0; ++exponent) {
        if (numerator % 10 == 0) {
            numerator /= 10;
        } else {
            denominator = checked_product(denominator, 10);
        }
    }
    for (; exponent > 0; --exponent) numerator = checked_product(numerator, 10);
    return {value < 0 ? -numerator : numerator, denominator};
}

}  // namespace assay::hetermoe
