// Stored messages as turns of a request, and turns as messages to store.
//
//   const std::vector<assembly::Turn> turns = ToTurns(stored.messages, &warnings);
//   document.AppendMessage(ToMessage(turn));
//
// The stored form is that of the OpenAI wire: content a text, null or a list of parts; tool calls
// beside it; results in messages of role tool.
// Thread-safety: pure functions over plain data.

#ifndef DOSSIER_CHAT_DOCUMENT_WIRE_H_
#define DOSSIER_CHAT_DOCUMENT_WIRE_H_

#include <span>
#include <string>
#include <vector>

#include "assembly/layout/messages.h"
#include "chat/document/stored.h"

namespace dossier::chat {

// One turn. A part that no request can hold (a sound, a file) is named in its place, and warned of;
// an unknown role is sent as user.
assembly::Turn ToTurn(const StoredMessage& message, std::vector<std::string>* warnings);
std::vector<assembly::Turn> ToTurns(std::span<const StoredMessage> messages,
                                    std::vector<std::string>* warnings);

// The images of a message.
std::vector<assembly::Block> ImagesOf(const StoredMessage& message);

// Thinking is not stored: providers want it back only within a turn.
JsonObject ToMessage(const assembly::Turn& turn);

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_DOCUMENT_WIRE_H_
