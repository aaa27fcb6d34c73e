#include "cli/conversations/context_table.h"

#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::cli {
namespace {

std::string Number(std::int64_t value) {
  return GroupDigits(static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0)));
}

std::string Row(std::string_view block, std::string_view source, std::string_view bytes,
                std::string_view tokens, std::string_view cut, std::string_view zone) {
  const std::string name = utf8::CleanForTerminal(block);
  return fmt::format("{:<24}  {:<8}  {:>10}  {:>8}  {:>10}  {}\n", name, source, bytes, tokens, cut,
                     zone);
}

const JsonArray* ListAt(const Json& json, std::string_view key) {
  const Json* list = Find(json, key);
  return list ? list->if_array() : nullptr;
}

}  // namespace

std::string ContextTable(const chat::TurnPlan& plan, std::span<const chat::ContextBlock> blocks) {
  std::string out = Row("block", "source", "bytes", "tokens", "cut", "zone");
  const JsonArray* list = plan.context.if_array();
  for (std::size_t i = 0; list && i < list->size() && i < blocks.size(); ++i) {
    const Json& block = (*list)[i];
    const std::int64_t cut = FindInt(blocks[i].record.notes, "cut_bytes").value_or(0);
    out += Row(FindString(block, "name").value_or(""), "command",
               Number(FindInt(block, "bytes").value_or(0)),
               Number(FindInt(block, "tokens").value_or(0)), cut > 0 ? Number(cut) : "-",
               FindString(block, "zone").value_or(""));
  }
  if (const JsonArray* sections = ListAt(plan.request.report, "sections")) {
    for (const Json& section : *sections) {
      const std::int64_t tokens = FindInt(section, "tokens").value_or(0);
      if (tokens == 0) continue;
      out += Row(FindString(section, "name").value_or(""), "section", "", Number(tokens), "-",
                 FindString(section, "zone").value_or(""));
    }
  }
  return out;
}

std::string FrozenTable(const chat::ContextRecord& context) {
  std::string out = Row("block", "source", "bytes", "tokens", "cut", "outcome");
  for (const chat::CommandRecord& command : context.commands) {
    const std::int64_t cut = FindInt(command.notes, "cut_bytes").value_or(0);
    out += Row(command.name, command.origin, GroupDigits(command.bytes), Number(command.tokens),
               cut > 0 ? Number(cut) : "-", command.outcome);
  }
  return out;
}

Json ContextSections(const Json& report) {
  JsonArray out;
  if (const JsonArray* sections = ListAt(report, "sections")) {
    for (const Json& section : *sections) {
      out.push_back(JsonObject{{"name", FindString(section, "name").value_or("")},
                               {"zone", FindString(section, "zone").value_or("")},
                               {"tokens", FindInt(section, "tokens").value_or(0)}});
    }
  }
  return out;
}

}  // namespace dossier::cli
