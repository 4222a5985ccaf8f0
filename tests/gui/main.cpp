// Tests with a Qt application behind them, on a screen that nobody sees.
#include <gtest/gtest.h>

#include <QApplication>
#include <cstdlib>

int main(int argc, char** argv) {
    setenv("QT_QPA_PLATFORM", "offscreen", 1);
    QApplication application(argc, argv);
    QApplication::setCursorFlashTime(0);
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
