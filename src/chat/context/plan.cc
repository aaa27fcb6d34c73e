#include "chat/context/plan.h"

#include <algorithm>

#include "base/hash.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "chat/context/compact.h"
#include "chat/document/wire.h"
#include "sources/commands/context_command.h"

namespace dossier::chat {
namespace {

using assembly::Section;
using Freshness = CommandRecord::Freshness;
using Origin = DeclaredCommand::Origin;

constexpr std::uint64_t kTitleLength = 60;  // code points
constexpr std::string_view kEnd = "\n--- End Context ---";

// Makes a section whose text is passed on unchanged.
Section Verbatim(std::string_view name, std::string text, Json provenance = nullptr) {
  Section section{.name = std::string(name), .provenance = std::move(provenance)};
  if (!text.empty()) section.parts.push_back({.text = std::move(text)});
  return section;
}

// "--- Context: NAME ---\n(unchanged since turn K)\n--- End Context ---".
std::string UnchangedBlock(std::string_view block, std::int64_t turn) {
  const std::size_t line = block.find('\n');
  return fmt::format("{}\n(unchanged since turn {}){}", block.substr(0, line), turn, kEnd);
}

std::string_view ZoneName(BlockPlace place) {
  return place == BlockPlace::kSystem ? "system" : "volatile";
}

// Plans one turn.
class GatherPlanner {
 public:
  GatherPlanner(const TurnInput& input, const Stored* stored, std::span<const ContextBlock> blocks,
                const ContextNeed& need, const tokens::Counter& counter)
      : input_(input), stored_(stored), blocks_(blocks), need_(need), counter_(counter) {
    stateless_ = need.state == State::kStateless;
    fresh_ = !stateless_ && !stored;
    refresh_ = stored && input.options.refresh == TurnOptions::Refresh::kYes;
  }

  Result<TurnPlan> Run(const assembly::Layout& layout, const assembly::Capability& capability) {
    plan_.hint = need_.hint;
    plan_.turn = stored_ ? NextTurn() : 1;
    PlaceBlocks();
    DOSSIER_ASSIGN_OR_RETURN(const SystemHalves system, MakeSystem());
    MakeUserText();
    std::vector<Section> sections = MakeSections(system);
    if (stateless_ && input_.options.compat == TurnOptions::Compat::kYes) OneMessage(&sections);
    DOSSIER_ASSIGN_OR_RETURN(
        plan_.request, assembly::Assemble(layout, input_.user_sections.With(std::move(sections)),
                                          {.reserve_output = input_.reserve_output}, capability,
                                          counter_, AssemblyOptions()));
    DOSSIER_RETURN_IF_ERROR(CheckWhole());
    MakeSave();
    ChooseConversationModel();
    return std::move(plan_);
  }

 private:
  std::int64_t NextTurn() const {
    if (!stored_->turns.empty()) return stored_->turns.back().n + 1;
    const auto users = std::count_if(stored_->messages.begin(), stored_->messages.end(),
                                     [](const StoredMessage& one) { return one.role == "user"; });
    return static_cast<std::int64_t>(users) + 1;
  }

  BlockPlace PlaceOf(const DeclaredCommand& command) const {
    if (command.origin == Origin::kExec) return need_.rule.exec;
    return command.freshness == Freshness::kDynamic ? need_.rule.dynamic : need_.rule.fixed;
  }

  Keep KeepOf(const DeclaredCommand& command) const {
    if (command.origin == Origin::kExec) return need_.rule.keep_exec;
    if (command.freshness != Freshness::kDynamic) return Keep::kNo;
    const bool asked = command.persist == DeclaredCommand::Persist::kYes;
    if (need_.rule.keep_dynamic == Keep::kIfAsked) return asked ? Keep::kYes : Keep::kNo;
    return need_.rule.keep_dynamic;
  }

  void PlaceBlocks() {
    JsonArray report, dynamic;
    for (const ContextBlock& block : blocks_) {
      const DeclaredCommand& command = input_.commands[block.command];
      const BlockPlace place = PlaceOf(command);
      std::string text = block.text;
      const bool kept = place == BlockPlace::kUser && KeepOf(command) == Keep::kYes;
      const bool is_dynamic =
          command.origin == Origin::kConfig && command.freshness == Freshness::kDynamic;
      if (is_dynamic || kept) {
        JsonObject record{{"name", command.name}, {"sha256", Sha256Hex(block.text)}};
        if (kept) record["saved"] = true;
        if (const auto since = UnchangedSince(command, block)) {
          text = UnchangedBlock(block.text, *since);
          record["unchanged_since"] = *since;
        }
        dynamic.push_back(std::move(record));
      }
      report.push_back(ReportOf(command, block, place, text));
      if (text.empty()) continue;
      if (place == BlockPlace::kSystem) continue;  // Freeze takes them
      (command.origin == Origin::kExec ? exec_ : dynamic_).push_back(text);
      if (kept) {
        (command.origin == Origin::kExec ? kept_exec_ : kept_dynamic_).push_back(text);
      }
    }
    plan_.context = std::move(report);
    plan_.save.dynamic = std::move(dynamic);
  }

  // Returns the turn whose message has the same block in full, if `unchanged: note` asks for it.
  std::optional<std::int64_t> UnchangedSince(const DeclaredCommand& command,
                                             const ContextBlock& block) const {
    const bool note = command.unchanged == DeclaredCommand::Unchanged::kNote;
    if (!note || !stored_ || stored_->turns.empty() || block.text.empty()) return std::nullopt;
    // A compacted history may no longer contain the block.
    if (!stored_->compaction.empty() || !input_.compaction.empty()) return std::nullopt;
    const TurnRecord& last = stored_->turns.back();
    if (!last.dynamic.is_array()) return std::nullopt;
    for (const Json& record : last.dynamic.get_array()) {
      if (FindString(record, "name") != command.name) continue;
      if (FindString(record, "sha256") != Sha256Hex(block.text)) return std::nullopt;
      return FindInt(record, "unchanged_since").value_or(last.n);
    }
    return std::nullopt;
  }

  Json ReportOf(const DeclaredCommand& command, const ContextBlock& block, BlockPlace place,
                std::string_view text) const {
    return JsonObject{{"name", command.name},
                      {"outcome", block.record.outcome},
                      {"bytes", block.record.bytes},
                      {"bytes_kept", block.record.bytes_kept},
                      {"tokens", counter_.CountText(text).tokens},
                      {"zone", ZoneName(place)},
                      {"sha256", block.record.sha256}};
  }

  std::vector<ContextBlock> FrozenBlocks() const {
    std::vector<ContextBlock> frozen;
    for (const ContextBlock& block : blocks_) {
      if (PlaceOf(input_.commands[block.command]) == BlockPlace::kSystem) frozen.push_back(block);
    }
    return frozen;
  }

  ContextRecord::Mode NewMode() const {
    if (input_.options.config_commands == TurnOptions::ConfigCommands::kSkip) {
      return ContextRecord::Mode::kDisabled;
    }
    return input_.commands.empty() ? ContextRecord::Mode::kNone : ContextRecord::Mode::kStatic;
  }

  Result<SystemHalves> MakeSystem() {
    if (stored_) {
      DOSSIER_RETURN_IF_ERROR(CheckSystemText(input_.options, input_.system_text, *stored_));
    }
    if (fresh_) {
      Frozen frozen = Freeze(input_.system_text, input_.commands, FrozenBlocks(), NewMode(),
                             input_.now, counter_);
      return Take(frozen);
    }
    if (refresh_) {
      Refreshed fresh = Refresh(*stored_, input_.commands, FrozenBlocks(), input_.now, counter_);
      if (ReplacesSystem()) {
        const ContextRecord& record = fresh.frozen.record;
        const auto offset = static_cast<std::size_t>(record.offset);
        fresh.frozen = Compose(input_.system_text,
                               fresh.frozen.system.substr(offset, record.length), record, counter_);
      }
      const StoredMessage* before = stored_->System();
      if (fresh.frozen.system != (before ? before->Text() : "")) {
        plan_.warnings.push_back("the context was refreshed: the provider's cached prefix is lost");
      }
      plan_.save.replaced = std::move(fresh.replaced);
      return Take(fresh.frozen);
    }
    if (ReplacesSystem()) return ReplaceSystem();
    if (!stored_ || !stored_->System()) return SystemHalves{.text = input_.system_text};
    SystemHalves parts = SplitSystem(*stored_);
    plan_.frozen_tokens = counter_.CountText(parts.context).tokens;
    return parts;
  }

  // So does a text that is asked for where the conversation has none.
  bool ReplacesSystem() const {
    using System = TurnOptions::System;
    return stored_ && (input_.options.system == System::kReplaces ||
                       (input_.options.system == System::kAsked && !stored_->System()));
  }

  // Keeps the frozen context, byte for byte, after the new text.
  SystemHalves ReplaceSystem() {
    const SystemHalves before = PartsAround(*stored_);
    const Frozen frozen = Compose(input_.system_text, before.context,
                                  stored_->context.value_or(ContextRecord()), counter_);
    if (before.text != input_.system_text && !stored_->messages.empty()) {
      plan_.warnings.push_back(
          fmt::format("the system text was {}: the provider's cached prefix is lost",
                      before.text.empty() ? "added" : "replaced"));
    }
    const SystemHalves parts = Take(frozen);
    // A file without a record of its context stays without one.
    if (!stored_->context) plan_.save.context.reset();
    return parts;
  }

  SystemHalves Take(const Frozen& frozen) {
    plan_.save.system = frozen.system;
    plan_.save.context = frozen.record;
    plan_.frozen_tokens = frozen.record.tokens;
    const auto offset = static_cast<std::size_t>(frozen.record.offset);
    if (frozen.record.length == 0) return {.text = frozen.system};
    return {.text = offset < 2 ? "" : frozen.system.substr(0, offset - 2),
            .context = frozen.system.substr(offset)};
  }

  // Joins blocks and prompt to one message.
  void MakeUserText() {
    std::vector<std::string> kept = kept_dynamic_;
    kept.insert(kept.end(), kept_exec_.begin(), kept_exec_.end());
    plan_.save.user = JoinBlocks(kept);
    if (!plan_.save.user.empty()) plan_.save.user += "\n\n";
    plan_.save.user += input_.prompt;
  }

  std::vector<Section> MakeSections(const SystemHalves& system) {
    std::vector<Section> sections;
    sections.push_back({.name = "tools"});
    sections.back().tools = input_.tools;
    sections.push_back(Verbatim("system_text", system.text, JsonObject{{"kind", "text"}}));
    sections.push_back(Verbatim("frozen_context", system.context, JsonObject{{"kind", "command"}}));
    AddMemory(&sections);
    sections.push_back({.name = "history"});
    if (stored_) {
      std::vector<CompactionRecord> records = stored_->compaction;
      records.insert(records.end(), input_.compaction.begin(), input_.compaction.end());
      sections.back().turns =
          HistoryView(*stored_, records, input_.keep_turns, counter_, &plan_.warnings);
    }
    sections.push_back(
        Verbatim("dynamic_context", JoinBlocks(dynamic_), JsonObject{{"kind", "command"}}));
    sections.push_back(
        Verbatim("exec_context", JoinBlocks(exec_), JsonObject{{"kind", "command"}}));
    sections.push_back(Verbatim("user_text", input_.prompt, JsonObject{{"kind", "user"}}));
    std::vector<assembly::Block>& parts = sections.back().parts;
    parts.insert(parts.begin(), input_.images.begin(), input_.images.end());
    sections.push_back({.name = "steps"});
    sections.back().turns = input_.steps;
    return sections;
  }

  assembly::AssembleOptions AssemblyOptions() const {
    assembly::AssembleOptions options{
        .boundary = input_.memory.boundary,
        .model = input_.model,
        .more_room = assembly::AssembleOptions::MoreRoom::kLargerModel};
    if (input_.memory.asked == MemoryTexts::Asked::kBlockAlone) {
      options.variables["block_alone"] = "yes";
    }
    return options;
  }

  // The layout fences stored text; an empty section leaves no trace.
  void AddMemory(std::vector<Section>* sections) const {
    const MemoryTexts& memory = input_.memory;
    const std::pair<std::string_view, const std::string&> texts[] = {
        {"memory_help", memory.help},
        {"memory_core", memory.core},
        {"memory", memory.rest},
        {"memory_results", memory.results},
        {"parsing_feedback", memory.feedback}};
    for (const auto& [name, text] : texts) {
      if (text.empty()) continue;
      sections->push_back({.name = std::string(name),
                           .content = text,
                           .provenance = JsonObject{{"kind", "memory"}}});
    }
  }

  // Under --compat: one user message "sys\n\nblk\n\nprompt".
  static void OneMessage(std::vector<Section>* sections) {
    std::vector<std::string> texts;
    for (Section& section : *sections) {
      const bool joined = section.name == "system_text" || section.name == "dynamic_context" ||
                          section.name == "exec_context" || section.name == "user_text";
      if (!joined || section.parts.empty()) continue;
      texts.push_back(section.parts.back().text);
      if (section.name == "user_text") {
        section.parts.back().text = JoinBlocks(texts);
      } else {
        section.parts.clear();
      }
    }
  }

  // Handles a model that differs from the conversation's. The warning is given only once per model.
  void ChooseConversationModel() {
    if (!stored_ || stored_->model.empty() || input_.model.empty()) return;
    if (input_.model == stored_->model) return;
    if (input_.options.adopt == TurnOptions::Adopt::kYes) {
      if (plan_.save.kind == TurnSave::Kind::kAppend) plan_.save.adopted = input_.model;
      return;
    }
    const std::string hint = ModelHint(input_.model);
    if (std::ranges::find(stored_->hints, hint) != stored_->hints.end()) return;
    if (plan_.save.kind == TurnSave::Kind::kAppend) plan_.save.hints.push_back(hint);
    plan_.warnings.push_back(
        fmt::format("{} answers, not the conversation's model {}: the provider's cached prefix is "
                    "lost for it; --adopt makes it the conversation's model",
                    input_.model, stored_->model));
  }

  // A conversation's history must not be cut, although the layout's rules would allow it. Sections
  // that the user added to the layout are cut by their own rules.
  Status CheckWhole() const {
    const Json* sections = Find(plan_.request.report, "sections");
    const JsonArray* list = sections ? sections->if_array() : nullptr;
    if (!list) return {};
    std::string sizes;
    bool whole = true;
    for (const Json& section : *list) {
      const auto outcome = FindString(section, "outcome");
      const bool own = input_.user_sections.Has(FindString(section, "name").value_or(""));
      whole &= own || (outcome != "cut" && outcome != "dropped");
      if (outcome == "absent" || outcome == "empty") continue;
      const std::int64_t tokens = FindInt(section, "tokens_wanted").value_or(0);
      sizes += fmt::format("{}{} {}", sizes.empty() ? "" : ", ",
                           FindString(section, "name").value_or(""),
                           GroupDigits(static_cast<std::uint64_t>(tokens)));
    }
    if (whole) return {};
    return MakeError(ErrorCode::kTooLong,
                     "the conversation does not fit the model's window; tokens by section: {}; use "
                     "--compact or a model with a larger window",
                     sizes);
  }

  void MakeSave() {
    TurnSave& save = plan_.save;
    const bool written = input_.options.store == TurnOptions::Store::kWritten;
    if (stateless_ || !written) {
      save = {};
      return;
    }
    save.kind = fresh_ ? TurnSave::Kind::kCreate : TurnSave::Kind::kAppend;
    save.tokens = counter_.CountText(save.user).tokens;
    save.images = input_.images;
    save.compaction = input_.compaction;
    if (need_.hint) save.hints.emplace_back(kRefreshHint);
    if (fresh_ || TurnBeginsConversation()) save.title = TitleOf(input_.prompt);
    if (fresh_) {
      save.model = input_.model;
      save.tokens += counter_.CountText(*save.system).tokens;
      return;
    }
    save.base = static_cast<std::int64_t>(stored_->messages.size());
    if (save.system) {
      const StoredMessage* system = stored_->System();
      save.tokens += counter_.CountText(*save.system).tokens -
                     counter_.CountText(system ? system->Text() : "").tokens;
    }
    if (stored_->total_tokens && !stored_->turns.empty()) return;
    std::int64_t all = 0;
    for (const StoredMessage& message : stored_->messages)
      all += counter_.CountText(message.Text()).tokens;
    save.recounted = all;
  }

  // True if all earlier turns were removed.
  bool TurnBeginsConversation() const {
    return std::ranges::none_of(stored_->messages,
                                [](const StoredMessage& one) { return one.role == "user"; });
  }

  const TurnInput& input_;
  const Stored* stored_;
  std::span<const ContextBlock> blocks_;
  const ContextNeed& need_;
  const tokens::Counter& counter_;
  bool stateless_ = false, fresh_ = false, refresh_ = false;
  std::vector<std::string> dynamic_, exec_, kept_dynamic_, kept_exec_;
  TurnPlan plan_;
};

Status CheckInput(const TurnInput& input, std::span<const ContextBlock> blocks,
                  const ContextNeed& need) {
  if (input.prompt.empty()) return MakeError(ErrorCode::kUsage, "the prompt is empty");
  std::size_t bad = 0;
  while (bad < input.prompt.size()) {
    std::size_t next = bad;
    const bool replaced = utf8::Next(input.prompt, &next) == U'\uFFFD';
    if (replaced && input.prompt.compare(bad, next - bad, "\xEF\xBF\xBD") != 0) {
      return MakeError(ErrorCode::kUsage, "the prompt is not UTF-8 text: byte {}", bad);
    }
    bad = next;
  }
  const bool matching = std::equal(
      blocks.begin(), blocks.end(), need.run.begin(), need.run.end(),
      [](const ContextBlock& block, std::size_t index) { return block.command == index; });
  if (!matching) {
    return MakeError(ErrorCode::kInternal, "the context blocks are not those that were asked for");
  }
  return {};
}

}  // namespace

Result<TurnPlan> PlanTurn(const TurnInput& input, const Stored* stored,
                          std::span<const ContextBlock> blocks, const assembly::Layout& layout,
                          const assembly::Capability& capability, const tokens::Counter& counter) {
  if (input.options.kind == TurnOptions::Kind::kStateless) stored = nullptr;
  DOSSIER_ASSIGN_OR_RETURN(const ContextNeed need, NeedOf(stored, input.commands, input.options));
  DOSSIER_RETURN_IF_ERROR(CheckInput(input, blocks, need));
  return GatherPlanner(input, stored, blocks, need, counter).Run(layout, capability);
}

Status CheckSystemText(const TurnOptions& options, std::string_view text, const Stored& stored) {
  if (options.system != TurnOptions::System::kAsked || !stored.System()) return {};
  if (PartsAround(stored).text == text) return {};
  return MakeError(ErrorCode::kUsage,
                   "conversation {} has a system text of its own, so another one would not count; "
                   "--replace-system puts it in its place",
                   stored.id);
}

std::string ChooseModel(std::string_view stored, std::string_view asked_for,
                        std::string_view configured) {
  if (!asked_for.empty()) return std::string(asked_for);
  return std::string(stored.empty() ? configured : stored);
}

namespace {

// Removes context that files of other programs have before the user's words.
std::string WithoutBlocks(std::string_view text) {
  std::string out;
  std::size_t at = 0;
  for (const sources::BlockSpan& span : sources::FindBlocks(text)) {
    out += text.substr(at, span.offset - at);
    at = span.offset + span.length;
  }
  return out += text.substr(at);
}

}  // namespace

std::string TitleOf(std::string_view prompt) {
  const std::string words = WithoutBlocks(prompt);
  std::string line;
  bool space = false;
  // A message that consists only of blocks keeps them.
  for (const char c : TrimSpace(words).empty() ? prompt : std::string_view(words)) {
    const bool blank = static_cast<unsigned char>(c) <= 0x20 || c == 0x7F;
    if (blank) {
      space = !line.empty();
      continue;
    }
    if (space) line += ' ';
    space = false;
    line += c;
    if (line.size() > kTitleLength * 4) break;  // a code point has at most four bytes
  }
  return std::string(utf8::Prefix(line, kTitleLength));
}

}  // namespace dossier::chat
