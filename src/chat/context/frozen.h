// The frozen context: blocks that enter the system message once, and their record.
//
//   const Frozen frozen = Freeze("You are helpful.", commands, blocks,
//   ContextRecord::Mode::kStatic,
//                                now, *counter);
//   frozen.system;    // "You are helpful.\n\n--- Context: Git Status ---\n…"
//   frozen.record;    // metadata.context
//
// Thread-safety: pure functions over plain data.

#ifndef DOSSIER_CHAT_CONTEXT_FROZEN_H_
#define DOSSIER_CHAT_CONTEXT_FROZEN_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "chat/context/context_need.h"
#include "chat/document/stored.h"
#include "tokens/counter/counter.h"

namespace dossier::chat {

// What one command gave.
struct ContextBlock {
  std::size_t command = 0;  // index in the declared commands
  std::string text;         // between its markers; "" where a failure is ignored
  CommandRecord record;     // outcome, status, sizes, hash; the declared part is filled in
};

// `blocks` joined by one blank line; those without text give nothing.
std::string JoinBlocks(std::span<const std::string> blocks);

struct Frozen {
  std::string system;  // text of the system message; "" means there is none
  ContextRecord record;
};
// `blocks` in the order in which they stand. `executed_at` is a time in UTC with microseconds.
Frozen Freeze(std::string_view system_text, std::span<const DeclaredCommand> commands,
              std::span<const ContextBlock> blocks, ContextRecord::Mode mode,
              std::string_view executed_at, const tokens::Counter& counter);

// The same context behind another system text: `context` is the text that `record` is about.
Frozen Compose(std::string_view system_text, std::string_view context, ContextRecord record,
               const tokens::Counter& counter);

// The system message in two parts, also where its blocks stand elsewhere than at its end or no
// record says where: what stands around the blocks is text.
SystemParts PartsAround(const Stored& stored);

// The blocks of the context of `stored`, by name, as they stand.
struct NamedBlock {
  std::string name;
  std::string text;
};
std::vector<NamedBlock> BlocksOf(std::string_view context);

// What a refresh does to each block: `same changed new gone`, or `not refreshed` for a block whose
// command did not run: that of an --exec that was not given again, or any but --block.
inline constexpr std::string_view kNotRefreshed = "not refreshed";
struct BlockChange {
  std::string name;
  std::string what;
  std::string before, now;  // the blocks; "" where there is none
};
struct Refreshed {
  Frozen frozen;
  std::vector<BlockChange> changes;
  // The old context, for the content store; "" if there was none, or it is the same.
  std::string replaced;
};
// What becomes of blocks that are not among the new ones: those of the configuration go and those
// of --exec stay, or all stay where they are.
enum class OtherBlocks { kGo, kStay };

// The system text of `stored` stays; its context is replaced. For a conversation without a system
// message, `system_text` of the configuration is not taken: the stored state wins.
Refreshed Refresh(const Stored& stored, std::span<const DeclaredCommand> commands,
                  std::span<const ContextBlock> blocks, std::string_view now,
                  const tokens::Counter& counter, OtherBlocks others = OtherBlocks::kGo);

// The texts of contexts that a refresh replaced: metadata.context.history names their hashes, the
// content store keeps the texts.
//
//   DOSSIER_RETURN_IF_ERROR(KeepReplacedContext(content_folder, refreshed.replaced));
//   for (const ReplacedContext& one : ReplacedContexts(stored)) {
//     DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadReplacedContext(content_folder, one));
//   }
//
// Thread-safety: a function over files.

// Called before the conversation's file changes, so that a failure loses nothing. Nothing is kept
// of an empty text, nor if `content_folder` is "". Errors: those of the content store.
Status KeepReplacedContext(const std::string& content_folder, std::string_view text);

// An entry of metadata.context.history.
struct ReplacedContext {
  std::string sha256, replaced_at;
  std::uint64_t bytes = 0;
};
// The oldest first.
std::vector<ReplacedContext> ReplacedContexts(const Stored& stored);

// Errors: kNotFound if the text is not kept here, those of the content store.
Result<std::string> ReadReplacedContext(const std::string& content_folder,
                                        const ReplacedContext& replaced);

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_CONTEXT_FROZEN_H_
