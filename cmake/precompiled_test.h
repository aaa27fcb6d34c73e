#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "precompiled.h"
