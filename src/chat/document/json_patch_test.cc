#include "chat/document/json_patch.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "testing/result_matchers.h"

namespace dossier::chat {
namespace {

using dossier::testing::FailsWith;
using dossier::testing::Succeeds;

// CON-29
TEST(JsonPatch, ChangesOnlyWhatItMeans) {
  const std::string text = "{\n  \"n\": 1.0e+05,\n  \"deep\": {\n    \"a\": \"\\u00e9\"\n  }\n}";
  JsonPatch patch(text, JsonStyle::Of(text));
  ASSERT_THAT(patch.Set({"deep", "b"}, Json("ü")), Succeeds());
  ASSERT_THAT(patch.Append({"deep", "list"}, 1), Succeeds());
  ASSERT_THAT(patch.Append({"deep", "list"}, JsonObject{{"k", true}}), Succeeds());
  EXPECT_EQ(
      patch.text(),
      "{\n  \"n\": 1.0e+05,\n  \"deep\": {\n    \"a\": \"\\u00e9\",\n    \"b\": \"\\u00fc\",\n"
      "    \"list\": [\n      1,\n      {\n        \"k\": true\n      }\n    ]\n  }\n}");
}

// CON-29
TEST(JsonPatch, UndoesWhatItDid) {
  const std::string text = "{\n  \"a\": 1,\n  \"b\": [\n    1,\n    2\n  ]\n}";
  JsonPatch patch(text, JsonStyle::Of(text));
  ASSERT_THAT(patch.Append({"b"}, "x"), Succeeds());
  ASSERT_THAT(patch.Set({"c", "d"}, 2), Succeeds());
  ASSERT_NE(patch.text(), text);
  ASSERT_THAT(patch.RemoveLast({"b"}, 1), Succeeds());
  ASSERT_THAT(patch.Remove({"c"}), Succeeds());
  EXPECT_EQ(patch.text(), text);
}

struct Edit {
  const char *before, *after;
};

// CON-29
TEST(JsonPatch, WritesAsTheRestIsWritten) {
  for (const Edit& edit : {Edit{"{}", R"({"k": [1]})"}, Edit{R"({"a":1})", R"({"a":1, "k": [1]})"},
                           Edit{R"({"a": 1, "b": 2})", R"({"a": 1, "b": 2, "k": [1]})"},
                           Edit{R"({"k":[]})", R"({"k":[1]})"},
                           Edit{"{\n\t\"a\": 1\n}", "{\n\t\"a\": 1,\n\t\"k\": [\n\t  1\n\t]\n}"}}) {
    JsonPatch patch(edit.before, JsonStyle::Of(edit.before));
    ASSERT_THAT(patch.Append({"k"}, 1), Succeeds());
    EXPECT_EQ(patch.text(), edit.after);
  }
}

TEST(JsonPatch, RefusesAPathThroughAText) {
  JsonPatch patch(R"({"a": "text"})", {});
  EXPECT_THAT(patch.Set({"a", "b"}, 1), FailsWith(ErrorCode::kDamaged, "object"));
  EXPECT_THAT(patch.Append({"a"}, 1), FailsWith(ErrorCode::kDamaged, "list"));
}

// CON-B14
TEST(JsonSlice, RefusesWhatIsNotJson) {
  for (const char* text :
       {"", "  ", "{", "[1,]", "{\"a\":}", "{\"a\" 1}", "{'a':1}", "01", "+1", "1.", "nul",
        "\"\\x\"", "\"\\u12\"", "\"\n\"", "{} {}", "NaN", "[1 2]", "\xff"}) {
    EXPECT_THAT(SliceDocument(text), FailsWith(ErrorCode::kDamaged, "")) << text;
  }
  const std::string deep(100'000, '[');
  EXPECT_THAT(SliceDocument(deep), FailsWith(ErrorCode::kDamaged, "deep"));
}

TEST(JsonSlice, ReadsLoneSurrogatesThatOtherProgramsWrite) {
  const auto value = ReadValue(R"(["\ud800", "\ud83d\ude00", "\\ud800"])");
  ASSERT_THAT(value, Succeeds());
  EXPECT_EQ(value->at(0).as_string(), "\xEF\xBF\xBD");
  EXPECT_EQ(value->at(1).as_string(), "😀");
  EXPECT_EQ(value->at(2).as_string(), "\\ud800");
}

Json RandomJson(Random& random, int depth) {
  switch (random.Below(depth > 3 ? 4 : 6)) {
    case 0:
      return nullptr;
    case 1:
      return static_cast<std::int64_t>(random.Next());
    case 2:
      return random.Below(2) == 0;
    case 3:
      return Json(random.Utf8(12));
    case 4: {
      JsonArray list;
      for (auto i = random.Below(4); i > 0; --i) list.push_back(RandomJson(random, depth + 1));
      return list;
    }
    default: {
      JsonObject object;
      for (auto i = random.Below(4); i > 0; --i) {
        object[random.Utf8(6)] = RandomJson(random, depth + 1);
      }
      return object;
    }
  }
}

// CON-29: whatever a text contains, a member that is set and removed leaves no trace, and what is
// written reads back.
TEST(JsonPatch, KeepsRandomTexts) {
  Random random(29);
  for (int i = 0; i < 3000; ++i) {
    JsonStyle style;
    if (random.Below(2)) style.charset = JsonStyle::Charset::kAscii;
    if (random.Below(2)) style.lines = JsonStyle::Lines::kOne;
    JsonObject object{{"first", 1}};
    object["x"] = RandomJson(random, 0);
    const std::string text = WriteJson(object, style);
    const Json value = RandomJson(random, 0);
    JsonPatch patch(text, style);
    ASSERT_THAT(patch.Set({"new key", "inner"}, value), Succeeds());
    const auto read = ReadValue(patch.text());
    ASSERT_THAT(read, Succeeds()) << patch.text();
    EXPECT_EQ(read->at("new key").at("inner"), value);
    ASSERT_THAT(patch.Remove({"new key"}), Succeeds());
    EXPECT_EQ(patch.text(), text);
  }
}

}  // namespace
}  // namespace dossier::chat
