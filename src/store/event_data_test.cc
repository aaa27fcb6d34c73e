#include "store/event_data.h"

#include <gtest/gtest.h>

#include "base/hash.h"

namespace dossier::store {
namespace {

TEST(EraseTextsTest, TheExampleInTheHeaderWorks) {
  const Erased erased = EraseTextsOf({{"turn", 1}, {"body", JsonObject{{"text", "secret"}}}});
  EXPECT_EQ(ToJson(Json(erased.data)), R"({"turn":1,"body":{"bytes":6,"left_out":true}})");
  EXPECT_TRUE(erased.bodies.empty());
}

TEST(EraseTextsTest, IdsStatesAndNumbersStayAndAllOtherWordsGo) {  // 3.4: journal bodies
  const std::string sha256 = Sha256Hex("a long text");
  const JsonObject data{
      {"conversation", "bug-12"},
      {"model", "gpt-4"},
      {"status", "final"},
      {"error", "no route to /home/ada"},
      {"argv", JsonArray{"git", "log"}},
      {"usage", JsonObject{{"input", 12}, {"cost_nano_usd", nullptr}}},
      {"messages", JsonObject{{"sha256", sha256}, {"bytes", 5000}}},
      {"tool_calls", JsonArray{JsonObject{{"name", "run"}, {"arguments", JsonObject{{"a", "b"}}}}}},
      {"kind", JsonObject{{"text", "a body under a kept name"}}}};
  const Erased erased = EraseTextsOf(data);
  EXPECT_EQ(ToJson(Json(erased.data)),
            R"({"conversation":"bug-12","model":"gpt-4","status":"final","error":"",)"
            R"("argv":["",""],"usage":{"input":12,"cost_nano_usd":null},)"
            R"("messages":{"bytes":5000,"left_out":true},)"
            R"("tool_calls":[{"name":"","arguments":{"a":""}}],)"
            R"("kind":{"bytes":24,"left_out":true}})");
  EXPECT_EQ(erased.bodies, std::vector<std::string>{sha256});
}

TEST(EraseTextsTest, CopiesOfContextsAreBodies) {
  const std::string one = Sha256Hex("a context"), two = Sha256Hex("another");
  const Erased erased = EraseTextsOf(
      {{"contexts",
        JsonArray{JsonObject{{"name", "a.txt"}, {"bytes", 9}, {"characters", 9}, {"sha256", one}}}},
       {"copy", JsonObject{{"name", "a.txt"}, {"sha256", two}}}});
  EXPECT_EQ(erased.bodies, (std::vector<std::string>{one, two}));
  EXPECT_EQ(ToJson(Json(erased.data)),
            R"({"contexts":[{"name":"","bytes":9,"characters":9,"sha256":""}],)"
            R"("copy":{"name":"","sha256":""}})");
}

TEST(EraseTextsTest, ErasingTwiceChangesNothingMore) {
  const JsonObject data{{"body", JsonObject{{"text", "x"}}}, {"why", "because"}};
  const Erased once = EraseTextsOf(data);
  EXPECT_EQ(EraseTextsOf(once.data).data, once.data);
}

}  // namespace

}  // namespace dossier::store
