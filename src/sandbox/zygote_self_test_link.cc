// self_test.cc is taken for a unit test by its name, so that the worker would lack it.
#if __has_include("sandbox/self_test.cc")
#include "sandbox/self_test.cc"  // NOLINT(bugprone-suspicious-include)
#endif
