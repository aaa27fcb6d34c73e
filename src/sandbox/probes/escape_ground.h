// Files and listening sockets outside the sandbox that escape attempts try to reach, and a check
// whether anything reached them.
//
//   DOSSIER_ASSIGN_OR_RETURN(EscapeGround ground, EscapeGround::Make());
//   std::string code = ground.Fill("open('$FOLDER$/secret')");
//   ground.Disturbed();   // "" or "a connection to 127.0.0.1"
//
// Everything is open to every user, so that only the walls can refuse. Thread-safety: one owner.

#ifndef DOSSIER_SANDBOX_PROBES_ESCAPE_GROUND_H_
#define DOSSIER_SANDBOX_PROBES_ESCAPE_GROUND_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/files/file.h"

namespace dossier::sandbox {

class EscapeGround {
 public:
  static Result<EscapeGround> Make();
  EscapeGround(EscapeGround&&) noexcept = default;
  EscapeGround& operator=(EscapeGround&&) = delete;
  // Removes what attempts left in a /tmp that was not private.
  ~EscapeGround();

  // Replaces the names of escape_attempts.h but $ROOT$.
  std::string Fill(std::string_view code) const;
  // A random text that stands in the files outside and in no code: if it turns up, a file was read.
  const std::string& secret() const { return secret_; }
  // Takes what has arrived since the last call: connections, datagrams, changed or new files.
  std::string Disturbed();

 private:
  explicit EscapeGround(TempFolder folder) : folder_(std::move(folder)) {}
  Status MakeFiles();
  Status Listen();
  std::string Path(std::string_view name) const;

  TempFolder folder_;
  std::string secret_, abstract_;
  int tcp_port_ = 0, udp_port_ = 0;
  UniqueFd tcp_, stream_, abstract_socket_;  // listening
  UniqueFd udp_, datagram_;
};

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_PROBES_ESCAPE_GROUND_H_
