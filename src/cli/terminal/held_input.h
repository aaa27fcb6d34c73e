// While work runs, what a person types is kept for the next prompt instead of being shown in the
// middle of the output.
//
//   HeldInput held(HeldInput::When::kAtTerminal);
//   …                                              // Ctrl-C still raises its signal
//   held.Release();                                // or the end of its life
//
// Ownership: changes the terminal of descriptor 0 and puts it back. Thread-safety: Release from any
// thread, also twice.

#ifndef DOSSIER_CLI_TERMINAL_HELD_INPUT_H_
#define DOSSIER_CLI_TERMINAL_HELD_INPUT_H_

#include <termios.h>

#include <atomic>

namespace dossier::cli {

class HeldInput {
 public:
  enum class When { kNever, kAtTerminal };

  explicit HeldInput(When when);
  ~HeldInput() { Release(); }
  HeldInput(const HeldInput&) = delete;
  HeldInput& operator=(const HeldInput&) = delete;

  void Release();

 private:
  termios before_{};
  std::atomic<bool> holding_ = false;
};

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TERMINAL_HELD_INPUT_H_
