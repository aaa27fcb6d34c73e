// What the tests of Describe share: a description of bytes in memory, and its lists as one text.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "inspect/describe/describe.h"

namespace dossier::inspect {

inline Description DescribeBytes(std::string_view bytes, std::string name,
                                 const Options& options = {}) {
  const auto source = MemorySource(bytes, std::move(name));
  auto described = Describe(*source, options, {});
  EXPECT_TRUE(described) << (described ? "" : described.error().message);
  return described ? *described : Description{};
}

inline std::string Repeat(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

inline std::string NoteCodes(const Description& description) {
  std::string codes;
  for (const Note& note : description.notes) codes += (codes.empty() ? "" : " ") + note.code;
  return codes;
}

inline std::string Shown(const Description& description) {
  std::string out;
  for (const Field& field : description.fields) out += (out.empty() ? "" : ", ") + field.shown;
  return out;
}

}  // namespace dossier::inspect
