// A conversation in memory: plans turns, "runs" commands, applies what is saved.
//
//   TalkRig rig;
//   rig.commands = {rig.Command("status")};
//   rig.Turn("Hello");
//   rig.runs["status"];             // 1
//   rig.requests.back().SystemText();

#ifndef DOSSIER_TESTING_TALK_RIG_FOR_TEST_H_
#define DOSSIER_TESTING_TALK_RIG_FOR_TEST_H_

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "assembly/layout/layout.h"
#include "base/hash.h"
#include "chat/context/plan.h"
#include "chat/document/wire.h"
#include "chat/store/save.h"
#include "testing/result_matchers.h"
#include "tokens/counter/counter.h"

namespace dossier::chat {

inline std::string BlockText(const std::string& name, const std::string& output) {
  return "--- Context: " + name + " ---\n" + (output.empty() ? "(no output)" : output) +
         "\n--- End Context ---";
}

inline std::string ErrorBlock(const std::string& name, const std::string& error) {
  return "--- Context Error: " + name + " ---\n" + error + "\n--- End Context ---";
}

struct TalkRig {
  static DeclaredCommand Command(const std::string& name) {
    return {.name = name, .command = "run-" + name};
  }
  static DeclaredCommand Dynamic(const std::string& name) {
    DeclaredCommand command = Command(name);
    command.freshness = CommandRecord::Freshness::kDynamic;
    return command;
  }
  static DeclaredCommand Exec(const std::string& name) {
    DeclaredCommand command = Command(name);
    command.origin = DeclaredCommand::Origin::kExec;
    return command;
  }

  std::optional<Stored> Read() const {
    if (!file) return std::nullopt;
    auto stored = ReadStored(*file);
    EXPECT_THAT(stored, testing::Succeeds());
    return std::move(*stored);
  }

  std::vector<ContextBlock> Run(const ContextNeed& need) {
    std::vector<ContextBlock> blocks;
    for (const std::size_t index : need.run) {
      const DeclaredCommand& command = commands[index];
      ++runs[command.name];
      ContextBlock block{.command = index};
      block.record.outcome = "ok";
      if (fails.contains(command.name)) {
        block.record.outcome = "exit";
        block.record.status = 1;
        if (command.on_failure != "ignore") {
          block.text = ErrorBlock(command.name, "Command exited with code 1");
        }
      } else {
        const auto found = outputs.find(command.name);
        block.text = BlockText(command.name,
                               found == outputs.end() ? "out of " + command.name : found->second);
      }
      block.record.sha256 = Sha256Hex(block.text);
      blocks.push_back(std::move(block));
    }
    return blocks;
  }

  // Plans and sends; what is to be saved goes into `file`.
  Result<TurnPlan> TryTurn(const std::string& prompt) {
    const std::optional<Stored> stored = Read();
    const Stored* known = stored ? &*stored : nullptr;
    if (options.kind == TurnOptions::Kind::kStateless) known = nullptr;
    DOSSIER_ASSIGN_OR_RETURN(const ContextNeed need, NeedOf(known, commands, options));
    const std::vector<ContextBlock> blocks = Run(need);
    TurnInput input{.commands = commands,
                    .options = options,
                    .prompt = prompt,
                    .system_text = system_text,
                    .id = "talk",
                    .model = model,
                    .now = "2026-11-21T12:47:14.000000Z",
                    .images = images};
    DOSSIER_ASSIGN_OR_RETURN(TurnPlan plan,
                             PlanTurn(input, known, blocks, layout, capability, *counter));
    requests.push_back(plan.request.messages);
    if (plan.save.kind == TurnSave::Kind::kNothing) return plan;
    if (!file) file = Document::Make("talk", plan.save.model, input.now);
    FinishedTurn finished{.messages = {JsonObject{{"role", "assistant"}, {"content", reply}}},
                          .tokens = counter->CountText(reply).tokens,
                          .now = input.now};
    DOSSIER_RETURN_IF_ERROR(ApplyTurn(plan.save, finished, &*file));
    DOSSIER_RETURN_IF_ERROR(file->Apply());
    return plan;
  }

  TurnPlan Turn(const std::string& prompt) {
    auto plan = TryTurn(prompt);
    EXPECT_THAT(plan, testing::Succeeds());
    return plan ? std::move(*plan) : TurnPlan();
  }

  std::string Text() const { return file ? file->Render().Joined() : std::string(); }
  void Load(const std::string& text) {
    auto document = Document::Parse(text, "talk");
    ASSERT_THAT(document, testing::Succeeds());
    file = std::move(*document);
  }
  std::string LastUser() const { return requests.back().turns.back().Text(); }

  std::vector<DeclaredCommand> commands;
  std::map<std::string, int> runs;
  std::map<std::string, std::string> outputs;
  std::map<std::string, int> fails;
  TurnOptions options;
  std::string system_text, reply = "Hi", model = "gpt-4";
  std::vector<assembly::Block> images;
  std::optional<Document> file;
  std::vector<assembly::Messages> requests;
  assembly::Layout layout = *assembly::FindLayout("chat", {});
  assembly::Capability capability{.window = 1'000'000, .max_output = 1000};
  std::shared_ptr<const tokens::Counter> counter = tokens::MakeCharCounter();
};

}  // namespace dossier::chat

#endif  // DOSSIER_TESTING_TALK_RIG_FOR_TEST_H_
