#include "python_ref.h"

#include <cmath>

namespace dossier::worker {
namespace {

constexpr int kMaxDepth = 60;  // the bridge's limit is 64, with the message around

// Where in the value a conversion is; spelled out only for an error.
struct Place {
  const Place* above = nullptr;
  std::string_view name;  // of the whole value, or a key
  Py_ssize_t index = -1;  // in a list
  int depth = 0;

  std::string Text() const {
    if (!above) return std::string(name);
    return index >= 0 ? fmt::format("{}[{}]", above->Text(), index)
                      : fmt::format("{}.{}", above->Text(), name);
  }
};

Result<Json> Convert(PyObject* value, const Place& place);

Result<Json> ConvertInt(PyObject* value, const Place& place) {
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow == 0) return Json(static_cast<std::int64_t>(number));
  if (overflow > 0) {
    const unsigned long long large = PyLong_AsUnsignedLongLong(value);
    if (!PyErr_Occurred()) return Json(static_cast<std::uint64_t>(large));
    PyErr_Clear();
  }
  return MakeError(ErrorCode::kInvalidArgument,
                   "{}: an integer of more than 64 bits cannot cross to the host; pass str()",
                   place.Text());
}

Result<Json> ConvertList(PyObject* list, const Place& place) {
  JsonArray out;
  // By index and with the length read again: another thread may change the list.
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); ++i) {
    Ref item(Py_NewRef(PySequence_Fast_GET_ITEM(list, i)));
    const Place own{.above = &place, .index = i, .depth = place.depth + 1};
    DOSSIER_ASSIGN_OR_RETURN(Json json, Convert(item.get(), own));
    out.push_back(std::move(json));
  }
  return Json(std::move(out));
}

Result<Json> ConvertDict(PyObject* dict, const Place& place) {
  JsonObject out;
  Ref items(PyDict_Items(dict));
  if (!items) return MakeError(ErrorCode::kInvalidArgument, "{}: {}", place.Text(), TakeError());
  out.reserve(static_cast<std::size_t>(PyList_GET_SIZE(items.get())));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items.get()); ++i) {
    PyObject* pair = PyList_GET_ITEM(items.get(), i);
    PyObject* key = PyTuple_GET_ITEM(pair, 0);
    if (!PyUnicode_Check(key)) {
      return MakeError(ErrorCode::kInvalidArgument, "{}: a key of type {}; keys must be str",
                       place.Text(), Py_TYPE(key)->tp_name);
    }
    const std::string name = TextOf(key);
    const Place own{.above = &place, .name = name, .depth = place.depth + 1};
    DOSSIER_ASSIGN_OR_RETURN(Json json, Convert(PyTuple_GET_ITEM(pair, 1), own));
    out.insert_or_assign(name, std::move(json));
  }
  return Json(std::move(out));
}

Result<Json> Convert(PyObject* value, const Place& place) {
  if (place.depth > kMaxDepth) {
    return MakeError(ErrorCode::kInvalidArgument, "{}: nested deeper than {}", place.Text(),
                     kMaxDepth);
  }
  if (value == Py_None) return Json(nullptr);
  if (PyBool_Check(value)) return Json(value == Py_True);
  if (PyLong_Check(value)) return ConvertInt(value, place);
  if (PyFloat_Check(value)) {
    const double number = PyFloat_AS_DOUBLE(value);
    if (std::isfinite(number)) return Json(number);
    return MakeError(ErrorCode::kInvalidArgument, "{}: {} cannot cross to the host", place.Text(),
                     std::isnan(number) ? "NaN" : "infinity");
  }
  if (PyUnicode_Check(value)) return Json(TextOf(value));
  if (PyList_Check(value) || PyTuple_Check(value)) return ConvertList(value, place);
  if (PyDict_Check(value)) return ConvertDict(value, place);
  return MakeError(ErrorCode::kInvalidArgument, "{}: a {} cannot cross to the host", place.Text(),
                   Py_TYPE(value)->tp_name);
}

Ref FromArray(const JsonArray& array) {
  Ref list(PyList_New(static_cast<Py_ssize_t>(array.size())));
  if (!list) return Ref();
  for (std::size_t i = 0; i < array.size(); ++i) {
    Ref item = FromJsonValue(array[i]);
    if (!item) return Ref();
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), item.Release());
  }
  return list;
}

Ref FromObject(const JsonObject& object) {
  Ref dict(PyDict_New());
  if (!dict) return Ref();
  for (const auto& [key, value] : object) {
    Ref name(PyUnicode_FromStringAndSize(key.data(), static_cast<Py_ssize_t>(key.size())));
    Ref item = FromJsonValue(value);
    if (!name || !item || PyDict_SetItem(dict.get(), name.get(), item.get()) < 0) return Ref();
  }
  return dict;
}

}  // namespace

Result<Json> ToJsonValue(PyObject* value, std::string_view path) {
  return Convert(value, {.name = path});
}

Ref FromJsonValue(const Json& value) {
  switch (value.kind()) {
    case boost::json::kind::null:
      return Ref(Py_NewRef(Py_None));
    case boost::json::kind::bool_:
      return Ref(PyBool_FromLong(value.get_bool()));
    case boost::json::kind::int64:
      return Ref(PyLong_FromLongLong(value.get_int64()));
    case boost::json::kind::uint64:
      return Ref(PyLong_FromUnsignedLongLong(value.get_uint64()));
    case boost::json::kind::double_:
      return Ref(PyFloat_FromDouble(value.get_double()));
    case boost::json::kind::string:
      return Ref(PyUnicode_FromStringAndSize(value.get_string().data(),
                                             static_cast<Py_ssize_t>(value.get_string().size())));
    case boost::json::kind::array:
      return FromArray(value.get_array());
    case boost::json::kind::object:
      return FromObject(value.get_object());
  }
  return Ref();
}

std::string TextOf(PyObject* text) {
  Py_ssize_t size = 0;
  if (const char* data = PyUnicode_AsUTF8AndSize(text, &size)) {
    return {data, static_cast<std::size_t>(size)};
  }
  PyErr_Clear();
  Ref bytes(PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace"));
  if (!bytes) {
    PyErr_Clear();
    return "";
  }
  return {PyBytes_AS_STRING(bytes.get()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.get()))};
}

std::string TakeError() {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  if (!type) return "no error";
  PyErr_NormalizeException(&type, &value, &trace);
  const Ref type_ref(type), value_ref(value), trace_ref(trace);
  std::string out = PyExceptionClass_Check(type) ? PyExceptionClass_Name(type) : "error";
  const Ref text(value ? PyObject_Str(value) : nullptr);
  if (text) {
    out += ": " + TextOf(text.get());
  } else {
    PyErr_Clear();
  }
  return out;
}

}  // namespace dossier::worker
