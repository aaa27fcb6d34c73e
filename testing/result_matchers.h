// Matchers for Result and Status in tests.
//
//   EXPECT_THAT(ReadFile("absent"), FailsWith(ErrorCode::kNotFound, "absent"));
//   EXPECT_THAT(ReadFile("present"), Succeeds());

#ifndef DOSSIER_TESTING_RESULT_MATCHERS_H_
#define DOSSIER_TESTING_RESULT_MATCHERS_H_

#include <gmock/gmock.h>

#include <string>

#include "base/result.h"

namespace dossier::testing {

MATCHER_P2(FailsWith, code, part,
           std::string(negation ? "does not fail" : "fails") + " with " +
               std::string(ErrorName(code)) + " and \"" + part + "\" in its message") {
  if (arg.has_value()) {
    *result_listener << "it succeeded";
    return false;
  }
  *result_listener << ErrorName(arg.error().code) << ": " << arg.error().message;
  return arg.error().code == code && arg.error().message.find(part) != std::string::npos;
}

MATCHER(Succeeds, negation ? "fails" : "succeeds") {
  if (arg.has_value()) return true;
  *result_listener << ErrorName(arg.error().code) << ": " << arg.error().message;
  return false;
}

}  // namespace dossier::testing

#endif  // DOSSIER_TESTING_RESULT_MATCHERS_H_
