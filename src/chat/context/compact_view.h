// The history of a conversation as the compactor sees it, and as requests hold it.
//
// Messages keep their index as id ("7"). What can become a line by rule: results of tools, and the
// blocks that a turn of ours saved in front of the user's text; nothing that a user typed.
// Thread-safety: pure functions over plain data.

#ifndef DOSSIER_CHAT_CONTEXT_COMPACT_VIEW_H_
#define DOSSIER_CHAT_CONTEXT_COMPACT_VIEW_H_

#include <span>
#include <string>
#include <vector>

#include "assembly/fit/compaction.h"
#include "chat/document/stored.h"
#include "tokens/counter/counter.h"

namespace dossier::chat {

// Every message behind the system message, with its tokens and framing.
std::vector<assembly::HistoryTurn> HistoryTurns(const Stored& stored,
                                                const tokens::Counter& counter,
                                                std::vector<std::string>* warnings);

// How turns are counted and shortened; limits are the caller's. `keep_turns` newest exchanges stay.
assembly::CompactionPolicy ViewPolicy(std::span<const assembly::HistoryTurn> turns,
                                      const Stored& stored, std::int64_t keep_turns,
                                      const tokens::Counter& counter);

// What the records of the file say about these turns. A later record stands for an earlier one that
// it covers.
assembly::Compaction ToCompaction(std::span<const CompactionRecord> records,
                                  std::span<const assembly::HistoryTurn> turns,
                                  const assembly::CompactionPolicy& policy);

std::size_t IndexOf(const assembly::HistoryTurn& turn);  // of its message

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_CONTEXT_COMPACT_VIEW_H_
