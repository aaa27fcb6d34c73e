// Owning references to Python objects, and values that cross between Python and JSON.
//
//   Ref text(PyUnicode_FromString("x"));          // takes over the reference
//   Result<Json> json = ToJsonValue(text.get());  // kInvalidArgument with the path of what cannot
//   Ref back = FromJsonValue(*json);              // null with a Python error set
//
// All functions need the interpreter's lock.

#ifndef DOSSIER_WORKERS_PYTHON_PYTHON_REF_H_
#define DOSSIER_WORKERS_PYTHON_PYTHON_REF_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/json/json.h"
#include "base/result.h"

namespace dossier::worker {

class Ref {
 public:
  Ref() = default;
  explicit Ref(PyObject* object) : object_(object) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    PyObject* old = std::exchange(object_, std::exchange(other.object_, nullptr));
    Py_XDECREF(old);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  PyObject* Release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

// Integers exact, finite floats, str (a lone surrogate becomes \udXXX text), bool, None, list,
// tuple, dict with str keys; depth at most 60. Errors: kInvalidArgument naming the path and the
// type, "args.items[3]: a set cannot cross to the host".
Result<Json> ToJsonValue(PyObject* value, std::string_view path = "value");
Ref FromJsonValue(const Json& value);

// The text of a str, surrogates as \udXXX.
std::string TextOf(PyObject* text);
// The pending Python error as "Type: message", cleared.
std::string TakeError();

}  // namespace dossier::worker

#endif  // DOSSIER_WORKERS_PYTHON_PYTHON_REF_H_
