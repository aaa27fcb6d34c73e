// stdout and stderr for the commands.
//
//   OutputBuffer buffer(STDOUT_FILENO);
//   std::ostream out(&buffer);
//   Run(out);
//   return buffer.ExitCode(code, err);    // 141 if the reader went away, with nothing on stderr
//
// Ownership: the caller keeps the descriptor. Thread-safety: one writer.

#ifndef DOSSIER_CLI_TERMINAL_STANDARD_STREAMS_H_
#define DOSSIER_CLI_TERMINAL_STANDARD_STREAMS_H_

#include <ostream>
#include <streambuf>
#include <string>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/result.h"

namespace dossier::cli {

// Buffers output for a descriptor and remembers why a write failed. Output after a failure is
// discarded.
class OutputBuffer final : public std::streambuf {
 public:
  explicit OutputBuffer(int fd) : fd_(fd) {}
  ~OutputBuffer() override { sync(); }
  OutputBuffer(const OutputBuffer&) = delete;
  OutputBuffer& operator=(const OutputBuffer&) = delete;

  int failure() const { return failure_; }  // errno of the first failed write, 0 if none
  bool closed() const;                      // the reader went away

  // Returns the process's exit code after a command that ended with `code`: 141 if the reader went
  // away; 1 with a message if the output could not be written for another reason.
  int ExitCode(int code, std::ostream& err);

 protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  int fd_;
  int failure_ = 0;
  std::string pending_;
};

// Passes stderr on and appends every whole line to a log file, with the time, without secrets and
// escapes (--log-file).
class LogBuffer final : public std::streambuf {
 public:
  enum class Form { kText, kJson };  // kJson: json_logs

  explicit LogBuffer(std::streambuf* next) : next_(next) {}
  ~LogBuffer() override { sync(); }

  // Creates a missing file with mode 0600. Errors: kPermission, kNotFound, kIo with the path.
  Status Open(const std::string& path, Form form);

 protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  void Log(std::string_view text);

  std::streambuf* next_;
  UniqueFd fd_;
  Form form_ = Form::kText;
  std::string line_;
};

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TERMINAL_STANDARD_STREAMS_H_
