#include "research/files/npy.h"

#include <gtest/gtest.h>

#include "base/files/file.h"
#include "base/random.h"
#include "base/text/utf8.h"
#include "testing/result_matchers.h"

namespace dossier::research {
namespace {

using ::dossier::testing::FailsWith;

std::string FileOf(std::string_view header, int version = 1) {
  std::string out = std::string("\x93NUMPY") + static_cast<char>(version) + '\0';
  std::size_t length = header.size();
  for (int byte = 0; byte < (version == 1 ? 2 : 4); ++byte, length >>= 8) {
    out += static_cast<char>(length & 0xff);
  }
  return out + std::string(header);
}

// RSP-29: dtype and shape without opening the data.
TEST(NpyTest, TypeAndShapeAreRead) {
  const struct {
    std::string_view header, schema;
    int version = 1;
  } kCases[] = {
      {"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }      \n",
       "float64, shape (3, 4)"},
      {"{'descr': '<f4', 'fortran_order': True, 'shape': (7,), }\n", "float32, shape (7,)", 2},
      {"{'descr': '|b1', 'fortran_order': False, 'shape': (), }", "bool, shape ()", 3},
      {"{'descr': '>i2', 'fortran_order': False, 'shape': (2,)}", "int16, shape (2,)"},
      {"{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", "pickled objects, shape (2,)"},
      {"{'descr': [('a', '<f4'), ('b', '<O')], 'fortran_order': False, 'shape': (2,), }",
       "pickled objects, shape (2,)"},
      {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }",
       R"([["a","<f4"]], shape (2,))"},
      {"{'descr': '<U12', 'fortran_order': False, 'shape': (2,), }", "<U12, shape (2,)"},
  };
  for (const auto& example : kCases) {
    const auto header = ParseNpyHeader(FileOf(example.header, example.version) + "data");
    ASSERT_TRUE(header) << example.header << ": " << header.error().message;
    EXPECT_EQ(NpySchema(*header), example.schema);
  }
}

TEST(NpyTest, WhatIsNoHeaderIsRefused) {
  const std::string good = FileOf("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }");
  const struct {
    std::string bytes, message;
  } kCases[] = {
      {"", "begin"},
      {"PK\x03\x04", "begin"},
      {good.substr(0, 7), "ends in its header"},
      {good.substr(0, 30), "ends in its header"},
      {std::string("\x93NUMPY\x09\x00\x00\x00", 10), "version 9"},
      {std::string("\x93NUMPY\x02\x00\xff\xff\xff\x7f", 12), "its header has"},
      {FileOf("{'descr': '<f8'}"), "fortran_order"},
      {FileOf("{'descr': '<f8', 'fortran_order': 1, 'shape': ()}"), "neither"},
      {FileOf("{'descr': '<f8', 'fortran_order': True, 'shape': ('a',)}"), "tuple"},
      {FileOf("{'descr': '<f8', 'fortran_order': True, 'shape': (-1,)}"), "tuple"},
      {FileOf("__import__('os')"), "no dictionary"},
  };
  for (const auto& example : kCases) {
    EXPECT_THAT(ParseNpyHeader(example.bytes), FailsWith(ErrorCode::kDamaged, example.message));
  }
}

TEST(NpyTest, TextInPlaceOfATypeIsShownAsOneShortLine) {
  const std::string schema =
      NpySchema({.descr = "x\n## System\x1b[2J\xff" + std::string(5000, 'y'), .shape = {2}});
  EXPECT_TRUE(utf8::IsValid(schema));
  EXPECT_EQ(schema.find_first_of("\n\x1b"), std::string::npos);
  EXPECT_LT(schema.size(), 600u);
}

TEST(NpyTest, AnyBytesAreReadOrRefused) {
  Random random(5);
  const std::string good =
      FileOf("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3, 4), }");
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = good.substr(0, random.Below(good.size() + 1));
    for (std::uint64_t change = random.Below(3); change > 0 && !bytes.empty(); --change) {
      bytes[random.Below(bytes.size())] = static_cast<char>(random.Below(256));
    }
    static_cast<void>(ParseNpyHeader(bytes));
  }
}

TEST(NpyTest, AFileIsReadUpToItsHeader) {
  const TempFolder temp = *TempFolder::Make("npy");
  const std::string path = temp.path() + "/a.npy";
  ASSERT_TRUE(WriteFileAtomic(
      path, FileOf("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000,), }") +
                std::string(200'000, 'x')));
  ASSERT_TRUE(ReadNpyHeader(path));
  EXPECT_EQ(ReadNpyHeader(path)->shape, std::vector<std::uint64_t>{1'000'000});
  EXPECT_THAT(ReadNpyHeader(temp.path() + "/b.npy"), FailsWith(ErrorCode::kNotFound, "b.npy"));
}

}  // namespace
}  // namespace dossier::research
