// What keeps a terminal from what others wrote: the last stop of every text on its way to one.
//
//   OutputBuffer buffer(STDOUT_FILENO);
//   TerminalFilter filter(&buffer, STDOUT_FILENO);
//   std::ostream out(&filter);
//   out << answer;                       // "\x1b]0;title\x07" is shown as ^[]0;title^G
//   out << Own("\x1b[1m");               // the program's own: passed on as it is
//
// On a terminal control characters but LF and TAB, direction marks and bytes that are no UTF-8 are
// shown instead of acted on, whoever printed them and forgot to clean them. Elsewhere every byte
// passes: what is piped is exact.
//
// Ownership: `next` stays the caller's. Thread-safety: one writer.

#ifndef DOSSIER_CLI_TERMINAL_TERMINAL_FILTER_H_
#define DOSSIER_CLI_TERMINAL_TERMINAL_FILTER_H_

#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

namespace dossier::cli {

class TerminalFilter final : public std::streambuf {
 public:
  // `fd` says whether it is one.
  TerminalFilter(std::streambuf* next, int fd);
  ~TerminalFilter() override;
  TerminalFilter(const TerminalFilter&) = delete;
  TerminalFilter& operator=(const TerminalFilter&) = delete;

  // As it is.
  void WriteOwn(std::string_view text);

 protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  void End();

  std::streambuf* const next_;
  const bool terminal_;
  std::string begun_;  // of a code point whose end has not come
};

// Text of the program itself, with its escape sequences; what of others stands in it is clean.
struct Own {
  explicit Own(std::string_view text) : text(text) {}
  std::string_view text;
};
std::ostream& operator<<(std::ostream& out, const Own& own);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TERMINAL_TERMINAL_FILTER_H_
