// A system library that is loaded when it is first needed, so that the program's start does not pay
// for it.
//
//   DOSSIER_ASSIGN_OR_RETURN(SharedLibrary library,
//                            SharedLibrary::Load("libmd4c.so.0", "libmd4c0"));
//   decltype(&md_parse) parse = nullptr;
//   library.Find("md_parse", parse);
//   DOSSIER_RETURN_IF_ERROR(library.Check("version 0.4 or newer is needed"));
//
// It is never unloaded. Thread-safety: one owner; the functions have the library's own rules.

#ifndef DOSSIER_BASE_PROCESS_SHARED_LIBRARY_H_
#define DOSSIER_BASE_PROCESS_SHARED_LIBRARY_H_

#include <string>
#include <string_view>

#include "base/result.h"

namespace dossier {

class SharedLibrary {
 public:
  // `file`: a string literal, not a std::string: the packages bundle the libraries whose names are
  // in the program's read-only data, where a compiler need not keep the parts of a std::string.
  // Errors: kUnavailable, naming the file and the package that contains it.
  static Result<SharedLibrary> Load(const char* file, std::string_view package);

  template <typename Function>
  void Find(const char* name, Function& out) {
    out = reinterpret_cast<Function>(Symbol(name));
  }
  // Errors: kUnavailable, naming the first function that was not found, and what is `needed`.
  Status Check(std::string_view needed) const;

 private:
  SharedLibrary(std::string file, void* handle) : file_(std::move(file)), handle_(handle) {}
  void* Symbol(const char* name);

  std::string file_;
  void* handle_;
  std::string missing_;  // the first missing function; "": none
};

}  // namespace dossier

#endif  // DOSSIER_BASE_PROCESS_SHARED_LIBRARY_H_
