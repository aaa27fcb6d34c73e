// Images of a caller, which code passes to a model by name with the prompt of a sub-call.
//
//   DOSSIER_ASSIGN_OR_RETURN(Medium plan, MediumOf("plan", "floor.png", bytes, cancel));
//   request.media.push_back(std::move(plan));
//   // in code: llm_query("Which rooms have a window?", media="plan")
//
// All interfaces create them with MediumOf, and the engine checks and stores them: the command
// (`--media`), the C++ API, rpc and Python, MCP, and images in messages to `serve`.
//
// Code knows only the names. It cannot name a file or an address, so only what the caller named is
// read or fetched. Thread-safety: functions over plain data.

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
  std::string from;  // the path or address given by the caller
  assembly::Block image;
  std::uint64_t bytes = 0;  // of the decoded image
  std::string sha256;       // of the decoded image
};

inline constexpr std::uint64_t kMaxImage = 16 << 20;  // bytes per image

// `image` is a block of type kImage with its data. Errors: kUsage (invalid name: it must be a
// letter, then letters, digits, _ and -), kDamaged (the data is not base64).
Result<Medium> MakeMedium(std::string name, std::string from, assembly::Block image);
// Makes a medium from all bytes of an image. `from` is the path, address or place in a request that
// they came from, for errors. Errors: as MakeMedium; kInvalidArgument (not PNG, JPEG, GIF or WebP),
// kDamaged (cut off before its size can be read), kTooLong (above kMaxImage).
Result<Medium> MediumOf(std::string name, std::string from, std::string_view bytes,
                        const CancelToken& cancel);
// Errors: kUsage, naming a name that occurs twice.
Status CheckNamesDiffer(std::span<const Medium> media);

// Returns the media that `args` of a sub-call names in `media`: a name, a list of names, or
// nothing. Errors: kInvalidArgument, listing the available names.
Result<std::vector<const Medium*>> MediaOf(const JsonObject& args, std::span<const Medium> media);

// Checks that `to` accepts images. Errors: kInvalidArgument, with what its entry lacks.
Status CheckTakesImages(const driver::BoundModel& to);
// Checks that some model code may ask accepts images. Errors: kInvalidArgument, for the first.
Status CheckSomeTakesImages(std::span<const driver::BoundModel* const> models);

// Returns lines such as "plan: image/png, 12,345 bytes", for the prompt.
std::string DescribeMedia(std::span<const Medium> media);
// Returns the JSON for run.started: [{"name", "from", "media_type", "bytes", "sha256"}].
JsonArray MediaJson(std::span<const Medium> media);

// Stores the image bytes in `content`, under the hashes in MediaJson.
Status StoreMedia(std::span<const Medium> media, store::ContentStore& content);
// Reads back what MediaJson described, with the bytes that StoreMedia stored. Errors: kNotFound,
// naming the medium whose bytes are gone.
Result<std::vector<Medium>> ReadMedia(const JsonObject& started, store::ContentStore& content);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_MEDIA_H_
