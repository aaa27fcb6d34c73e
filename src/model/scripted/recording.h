// Requests and their replies in a file: recorded from a real provider, served again without one.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto recorder, Recorder::Create("run.jsonl"));
//   client = recorder->Wrap(client, key);                       // --record
//   DOSSIER_ASSIGN_OR_RETURN(auto recording, Recording::Load("run.jsonl"));
//   client = recording->Client();                               // --replay: no key, no network
//
// One line of JSON for each attempt, after its end (docs/formats/recordings.md):
//   {"schema":"dossier.recording/1","sha256":HASH,"request":{…},"reply":{…}}   or "error":{…}
// HASH is of the request as written. Secrets and the key are redacted before anything is hashed or
// written; what is drawn anew for each run (ids of data fences, the seed) does not count, so that
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
  // Starts a new file, mode 0600; one that holds something else than a recording is left alone.
  // Errors: kUsage (such a file), kIo, kPermission.
  static Result<std::shared_ptr<Recorder>> Create(const std::string& path);
  virtual ~Recorder() = default;
  // A client that answers as `client` does, and writes down what it answered. `key` never gets into
  // the file. What cannot be written is a warning of the reply.
  virtual std::shared_ptr<Client> Wrap(std::shared_ptr<Client> client, std::string key) = 0;
};

class Recording {
 public:
  // Errors: kConfig with FILE:LINE, kNotFound, kIo.
  static Result<std::shared_ptr<Recording>> Load(const std::string& path);
  virtual ~Recording() = default;
  // Requests with equal content get their replies in the order of the file; each once. One that is
  // not there, or no longer, fails with kFailed, naming the first difference to the nearest one.
  virtual std::shared_ptr<model::Client> Client() = 0;
  // The model that the first request went to; empty: none was recorded.
  virtual std::string first_model() const = 0;
};

// The lines of a recording (model/scripted/recording.h). Only for .cc files of this module.
//
// Thread-safety: pure functions.

inline constexpr std::string_view kRecordingSchema = "dossier.recording/1";

// What decides about a reply: without secrets, seed and the ids of data fences.
Json RequestToJson(const Request& request, std::string_view key);
Json ReplyToJson(const Reply& reply, std::string_view key);
Json FailureToJson(const Error& error, const Failure& failure, std::string_view key);

// Fields that are absent or wrong stay at their defaults.
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
