// The messages a person typed, kept from one session to the next.
//
//   InputHistory history(state_folder + "/chat_history");
//   for (const std::string& message : history.Load()) Offer(message);
//   history.Add("why does the build fail?");
//
// One message a line, "\" and LF as "\\" and "\n"; mode 0600; the newest kMaxEntries. Several
// sessions may add at a time. What cannot be read or written is no error: a history is a
// convenience. Thread-safety: one owner.

#ifndef DOSSIER_CLI_TERMINAL_INPUT_HISTORY_H_
#define DOSSIER_CLI_TERMINAL_INPUT_HISTORY_H_

#include <string>
#include <string_view>
#include <vector>

namespace dossier::cli {

class InputHistory {
 public:
  static constexpr std::size_t kMaxEntries = 1000;
  static constexpr std::size_t kMaxEntry = 64 * 1024;  // bytes; a longer message is not kept

  // "": nothing is kept.
  explicit InputHistory(std::string path) : path_(std::move(path)) {}

  // Oldest first.
  std::vector<std::string> Load() const;
  // Not if it is empty or the message before. Text that looks like a secret is kept redacted.
  void Add(std::string_view message);

 private:
  std::string path_;
  std::string last_;
};

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TERMINAL_INPUT_HISTORY_H_
