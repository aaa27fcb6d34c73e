// Images of a caller: code hands them to a model by name, with the prompt of a sub-call.
//
//   DOSSIER_ASSIGN_OR_RETURN(Medium plan, MediumOf("plan", "floor.png", bytes, cancel));
//   request.media.push_back(std::move(plan));
//   // in code: llm_query("Which rooms have a window?", media="plan")
//
// Every surface of the program makes them by MediumOf, and the engine checks and keeps them: the
// command (`--media`), the C++ API, rpc and Python, MCP, and images in messages to `serve`.
//
// Code knows names only. It can name no file and no address, so nothing is read or fetched that the
// caller did not name. Thread-safety: functions over plain data.

#ifndef DOSSIER_ASK_MEDIA_H_
#define DOSSIER_ASK_MEDIA_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "assembly/layout/messages.h"
#include "base/cancel.h"
#include "base/json/json.h"
#include "base/result.h"
#include "driver/bound_model.h"
#include "store/content.h"

namespace dossier::ask {

struct Medium {
  std::string name;
  std::string from;  // the path or address that the caller gave
  assembly::Block image;
  std::uint64_t bytes = 0;  // of the image itself
  std::string sha256;       // of the same bytes
};

inline constexpr std::uint64_t kMaxImage = 16 << 20;  // bytes of one

// `image`: a block of type kImage that holds its data. Errors: kUsage (the name is none: a letter,
// then letters, digits, _ and -), kDamaged (the data is no base64).
Result<Medium> MakeMedium(std::string name, std::string from, assembly::Block image);
// From all bytes of an image. `from` says where they came from, and names them in errors: a path,
// an address, a place in a request. Errors: as MakeMedium's; kInvalidArgument (no PNG, JPEG, GIF or
// WebP), kDamaged (it has no size that can be read: it was cut off), kTooLong (above kMaxImage).
Result<Medium> MediumOf(std::string name, std::string from, std::string_view bytes,
                        const CancelToken& cancel);
// Errors: kUsage, naming one that is there twice.
Status CheckNamesDiffer(std::span<const Medium> media);

// Those that `args` of a sub-call name in `media`: a name, a list of names, or nothing. Errors:
// kInvalidArgument naming those that there are.
Result<std::vector<const Medium*>> MediaOf(const JsonObject& args, std::span<const Medium> media);

// Whether `to` takes images. Errors: kInvalidArgument, with what its entry lacks.
Status CheckTakesImages(const driver::BoundModel& to);
// Whether one of those does that code may ask. Errors: kInvalidArgument, as of the first of them.
Status CheckSomeTakesImages(std::span<const driver::BoundModel* const> models);

// "plan: image/png, 12,345 bytes"; a line each, for the prompt.
std::string DescribeMedia(std::span<const Medium> media);
// For run.started: [{"name", "from", "media_type", "bytes", "sha256"}].
JsonArray MediaJson(std::span<const Medium> media);

// Keeps the bytes in `content`, under the hashes that MediaJson names.
Status StoreMedia(std::span<const Medium> media, store::ContentStore& content);
// What MediaJson said, with the bytes that StoreMedia kept. Errors: kNotFound naming the medium
// whose bytes are not there any more.
Result<std::vector<Medium>> ReadMedia(const JsonObject& started, store::ContentStore& content);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_MEDIA_H_
