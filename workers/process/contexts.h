// The contexts of a session as read-only maps.
//
//   DOSSIER_ASSIGN_OR_RETURN(MappedContext context, MappedContext::Map(std::move(description),
//   fd)); context.bytes();   // valid as long as the process
//
// A spare page of zeros lies behind each map, so that readers of 64 bytes at a time may read past
// the end. Maps are never undone: code may hold views of them.

#ifndef DOSSIER_WORKERS_PROCESS_CONTEXTS_H_
#define DOSSIER_WORKERS_PROCESS_CONTEXTS_H_

#include <string_view>
#include <vector>

#include "base/files/file.h"
#include "base/result.h"
#include "sandbox/session/session.h"

namespace dossier::worker {

class MappedContext {
 public:
  // Errors: kProtocol if the file is shorter than described, kIo.
  static Result<MappedContext> Map(sandbox::ContextText description, int fd);
  // Of a text that is in memory for good, with 64 readable bytes behind it.
  static MappedContext Of(sandbox::ContextText description, const char* text);

  const sandbox::ContextText& description() const { return description_; }
  std::string_view bytes() const { return {data_, description_.bytes}; }
  bool is_database() const { return description_.kind == sandbox::ContextText::Kind::kDatabase; }

 private:
  sandbox::ContextText description_;
  const char* data_ = nullptr;
};

// Takes the databases out, which stand behind the texts.
std::vector<MappedContext> TakeDatabases(std::vector<MappedContext>* contexts);

// Maps each context of an open message with the descriptor that came along for it.
// Errors: kProtocol if their numbers differ, as Map.
Result<std::vector<MappedContext>> MapContexts(std::vector<sandbox::ContextText> descriptions,
                                               const std::vector<UniqueFd>& fds);

}  // namespace dossier::worker

#endif  // DOSSIER_WORKERS_PROCESS_CONTEXTS_H_
