// What every command includes: the argument parser is the heaviest header of the tree.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <iostream>
#include <sstream>

#include "precompiled.h"
