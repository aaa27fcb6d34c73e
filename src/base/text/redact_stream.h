// Redact for text that arrives in pieces: a secret that spans two pieces is found as well.
//
//   RedactStream stream;
//   file += stream.Add(bytes);  …  file += stream.Finish();
//
// What comes out in all is Redact of what went in. Up to 128 KiB are held back. Thread-safety: one
// owner.

#ifndef DOSSIER_BASE_TEXT_REDACT_STREAM_H_
#define DOSSIER_BASE_TEXT_REDACT_STREAM_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace dossier {

class RedactStream {
 public:
  // What may be written by now.
  std::string Add(std::string_view bytes);
  // The rest. The stream may be used anew.
  std::string Finish();

 private:
  // The text up to about `end`, which must hold all secrets that begin there.
  std::string Take(std::size_t end);

  std::string pending_;
  std::size_t written_ = 0;  // bytes of pending_, kept for what stands in front of a value
};

}  // namespace dossier

#endif  // DOSSIER_BASE_TEXT_REDACT_STREAM_H_
