// Images of a caller: code hands them to a model by name, with the prompt of a sub-call.
//
//   request.media.push_back(MakeMedium("plan", "floor.png", block));   // --media plan=floor.png
//   // in code: llm_query("Which rooms have a window?", media="plan")
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

// `image`: a block of type kImage that holds its data. Errors: kUsage (the name is none: a letter,
// then letters, digits, _ and -), kDamaged (the data is no base64).
Result<Medium> MakeMedium(std::string name, std::string from, assembly::Block image);

// Those that `args` of a sub-call name in `media`: a name, a list of names, or nothing. Errors:
// kInvalidArgument naming those that there are.
Result<std::vector<const Medium*>> MediaOf(const JsonObject& args, std::span<const Medium> media);

// Whether `to` takes images. Errors: kInvalidArgument, with what its entry lacks.
Status CheckTakesImages(const driver::BoundModel& to);

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
