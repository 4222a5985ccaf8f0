#include "impls/hetermoe/policy/fraction.hpp"

#include <gtest/gtest.h>

#include <compare>
#include <random>

namespace assay::hetermoe {
namespace {

constexpr Wide huge = Wide{1} << 126;

TEST(HetermoeFraction, IsReducedAndItsDenominatorPositive) {
    const Fraction third(-4, -12), minus(3, -6);
    EXPECT_TRUE(third.numerator() == 1 && third.denominator() == 3);
    EXPECT_TRUE(minus.numerator() == -1 && minus.denominator() == 2);
    EXPECT_TRUE(minus.floor() == -1 && third.floor() == 0 && Fraction(7, 2).floor() == 3);
    EXPECT_TRUE(Fraction(0, 5).denominator() == 1);
}

TEST(HetermoeFraction, CalculatesAsOnPaper) {
    const Fraction a(5, 6), b(3, 4);
    EXPECT_TRUE(a + b == Fraction(19, 12) && a - b == Fraction(1, 12));
    EXPECT_TRUE(a * b == Fraction(5, 8) && a / b == Fraction(10, 9));
    EXPECT_DOUBLE_EQ(a.value(), 5.0 / 6);
}

TEST(HetermoeFraction, ComparesWhatCrossProductsCouldNot) {
    const Fraction below(huge - 1, huge), above(huge, huge - 1);
    EXPECT_TRUE(below < above && above > below && below < Fraction(1) && above > Fraction(1));
    EXPECT_TRUE(below == below && !(below < below));
    std::mt19937_64 random(1);
    std::uniform_int_distribution<int> any(-9, 9), positive(1, 9);
    for (int i = 0; i < 20000; ++i) {
        const int p = any(random), q = positive(random), r = any(random), s = positive(random);
        EXPECT_TRUE((Fraction(p, q) <=> Fraction(r, s)) == (p * s <=> r * q))
            << p << '/' << q << ' ' << r << '/' << s;
    }
}

TEST(HetermoeFraction, RefusesWhatDoesNotFitInsteadOfRounding) {
    EXPECT_THROW(Fraction(huge) * Fraction(huge), TooLargeToStayExact);
    EXPECT_THROW(Fraction(huge) + Fraction(huge), TooLargeToStayExact);
    EXPECT_TRUE(Fraction(huge, 3) * Fraction(3, huge) == Fraction(1));
}

TEST(HetermoeFraction, ReadsDecimalsAsTheyAreWritten) {
    EXPECT_TRUE(decimal_fraction(0.45) == Fraction(9, 20));
    EXPECT_TRUE(decimal_fraction(3) == Fraction(3) && decimal_fraction(0) == Fraction(0));
    EXPECT_TRUE(decimal_fraction(1e-10) == Fraction(1, 10'000'000'000));
    EXPECT_TRUE(decimal_fraction(2.5e20) == Fraction(Wide{250'000'000'000} * 1'000'000'000));
    EXPECT_TRUE(decimal_fraction(-0.1) == Fraction(-1, 10));
    EXPECT_THROW(decimal_fraction(1e-60), TooLargeToStayExact);
    EXPECT_THROW(decimal_fraction(1e60), TooLargeToStayExact);
}

}  // namespace
}  // namespace assay::hetermoe
