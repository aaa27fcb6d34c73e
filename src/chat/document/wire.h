// Converts stored messages to turns of a request, and turns to messages to store.
//
//   const std::vector<assembly::Turn> turns = ToTurns(stored.messages, &warnings);
//   document.AppendMessage(ToMessage(turn));
//
// Messages are stored in the format of the OpenAI API: content is a text, null or a list of parts;
// tool calls are beside it; results are messages of role tool. Thread-safety: pure functions over
// plain data.

#ifndef DOSSIER_CHAT_DOCUMENT_WIRE_H_
#define DOSSIER_CHAT_DOCUMENT_WIRE_H_

#include <span>
#include <string>
#include <vector>

#include "assembly/layout/messages.h"
#include "chat/document/stored.h"

namespace dossier::chat {

// Converts one message. A part that no request can hold (audio, a file) is replaced by its name,
// with a warning; an unknown role is sent as user.
assembly::Turn ToTurn(const StoredMessage& message, std::vector<std::string>* warnings);
std::vector<assembly::Turn> ToTurns(std::span<const StoredMessage> messages,
                                    std::vector<std::string>* warnings);

// Returns the images of a message.
std::vector<assembly::Block> ImagesOf(const StoredMessage& message);

// Thinking is not stored, because providers accept it only within the same turn.
JsonObject ToMessage(const assembly::Turn& turn);

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_DOCUMENT_WIRE_H_
