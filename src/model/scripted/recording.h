// Recordings of requests and their replies: made with a real provider, replayed without one.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto recorder, Recorder::Create("run.jsonl"));
//   client = recorder->Wrap(client, key);                       // --record
//   DOSSIER_ASSIGN_OR_RETURN(auto recording, Recording::Load("run.jsonl"));
//   client = recording->Client();                               // --replay: no key, no network
//
// One line of JSON per attempt, written after its end (docs/formats/recordings.md):
//   {"schema":"dossier.recording/1","sha256":HASH,"request":{…},"reply":{…}}   or "error":{…}
// HASH is that of the request as written. Secrets and the key are redacted before hashing and
// writing; values that differ in each run (ids of data fences, the seed) do not count, so that
// another run finds its replies.
//
// Thread-safety: all methods from any thread.

#ifndef DOSSIER_MODEL_SCRIPTED_RECORDING_H_
#define DOSSIER_MODEL_SCRIPTED_RECORDING_H_

#include <memory>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "model/client/client.h"

namespace dossier::model {

class Recorder {
 public:
  // Starts a new file with mode 0600; an existing file that is not a recording is left alone.
  // Errors: kUsage (such a file), kIo, kPermission.
  static Result<std::shared_ptr<Recorder>> Create(const std::string& path);
  virtual ~Recorder() = default;
  // Returns a client that answers as `client` does and records the answers. `key` is never written
  // to the file. A write failure becomes a warning of the reply.
  virtual std::shared_ptr<Client> Wrap(std::shared_ptr<Client> client, std::string key) = 0;
};

class Recording {
 public:
  // Errors: kConfig with FILE:LINE, kNotFound, kIo.
  static Result<std::shared_ptr<Recording>> Load(const std::string& path);
  virtual ~Recording() = default;
  // Requests with equal content get their replies in file order, each one once. A request that is
  // missing or used up fails with kFailed, naming the first difference to the nearest one.
  virtual std::shared_ptr<model::Client> Client() = 0;
  // The model that the first request was sent to; empty: none was recorded.
  virtual std::string first_model() const = 0;
};

// The lines of a recording (model/scripted/recording.h). Only for .cc files of this module.
//
// Thread-safety: pure functions.

inline constexpr std::string_view kRecordingSchema = "dossier.recording/1";

// Returns everything that determines a reply: without secrets, seed and the ids of data fences.
Json RequestToJson(const Request& request, std::string_view key);
Json ReplyToJson(const Reply& reply, std::string_view key);
Json FailureToJson(const Error& error, const Failure& failure, std::string_view key);

// Missing or invalid fields keep their defaults.
Reply ReplyFromJson(const Json& json);
struct RecordedFailure {
  Error error;
  Failure failure;
};
RecordedFailure FailureFromJson(const Json& json);

// "messages.turns[1].blocks[0].text, character 17: recorded "…a…", asked "…b…""; empty if equal.
std::string FirstDifference(const Json& recorded, const Json& asked);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_SCRIPTED_RECORDING_H_
