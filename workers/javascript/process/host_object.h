// The object `host`: what the JavaScript half of the worker needs of the C++ half. Code never sees
// it; our own half keeps it to itself.
//
//   write(text)                     output of the running block
//   call(method, args, texts)       a promise of the reply's value; texts are the raw bytes in
//   order ask(method, args, texts)        the same, waited for utf8Length(text) bytes contexts()
//   [{name, bytes, units, meta}]: units of UTF-16 text(ctx, at, bytes)            a piece of a
//   context; whole(ctx): all of it, one string toBytes(ctx, unit), toUnits(ctx, byte) noteRead(ctx,
//   at, bytes)        code got to see this part features()                      what the session
//   offers hand(form, text, value)         hands an answer over; does not come back
//   sql(query, params)              rows of one statement that reads
//   setTimer(function, ms), clearTimer(id), now()
//   promise(value)                  ["pending" | "fulfilled" | "rejected", value], or undefined
//   isProxy(value), evaluate(code, file, line), errorLine(error)
//
// Thread-safety: none.

#ifndef DOSSIER_WORKERS_JAVASCRIPT_HOST_OBJECT_H_
#define DOSSIER_WORKERS_JAVASCRIPT_HOST_OBJECT_H_

#include <cstdint>
#include <vector>

#include "engine.h"
#include "language.h"

namespace dossier::worker {

// Where UTF-16 units stand in a UTF-8 text: one entry for each 64 KiB, made at first need.
class UnitIndex {
 public:
  // `characters` as the host counted them: with as many bytes each is one unit, and nothing need be
  // read.
  UnitIndex(std::string_view text, std::uint64_t characters)
      : text_(text), is_ascii_(characters == text.size()) {}
  std::uint64_t units();
  // Of a unit inside a pair of surrogates: the byte where the pair begins.
  std::uint64_t ToByte(std::uint64_t unit);
  std::uint64_t ToUnit(std::uint64_t byte);

 private:
  void Make();
  std::string_view text_;
  bool is_ascii_;
  std::vector<std::uint64_t> before_;  // units before each step
};

struct HostState {
  Engine* engine = nullptr;
  SessionParts session;
  std::vector<UnitIndex> indexes;
  std::vector<JS::PersistentRootedString> texts;  // of the contexts, once they are made
  bool touched = false;                           // code has asked for data or a model
  std::vector<sandbox::ReadPart> read;            // in this block
};

// A new object whose functions work on `state`, which must outlive the context; null without
// memory.
JSObject* MakeHostObject(JSContext* cx, HostState* state);

}  // namespace dossier::worker

#endif  // DOSSIER_WORKERS_JAVASCRIPT_HOST_OBJECT_H_
