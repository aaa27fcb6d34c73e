#include "code_archive.h"

#include <gtest/gtest.h>
#include <marshal.h>

namespace dossier::worker {
namespace {

class CodeArchiveTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { Py_InitializeEx(0); }

  // As cmake/compile_python.py makes it: one module, `answer = 42`.
  static std::string Archive() {
    const long magic = PyImport_GetMagicNumber();
    std::string bytes;
    for (int i = 0; i < 4; ++i) bytes += static_cast<char>(magic >> (8 * i));
    const Ref code(Py_CompileString("answer = 42", "<dossier:one>", Py_file_input));
    const Ref codes(Py_BuildValue("{s:O}", "one", code.get()));
    const Ref text(PyMarshal_WriteObjectToString(codes.get(), Py_MARSHAL_VERSION));
    return bytes.append(PyBytes_AS_STRING(text.get()),
                        static_cast<std::size_t>(PyBytes_GET_SIZE(text.get())));
  }

  static Py_ssize_t Modules(std::string_view archive, long magic) {
    const Ref code = ReadCodeArchive(archive, magic);
    EXPECT_TRUE(code);
    EXPECT_FALSE(PyErr_Occurred());
    return code ? PyDict_Size(code.get()) : -1;
  }
};

TEST_F(CodeArchiveTest, CodeOfThisInterpreterIsUsed) {
  const std::string archive = Archive();
  const Ref code = ReadCodeArchive(archive, PyImport_GetMagicNumber());
  ASSERT_TRUE(code);
  EXPECT_TRUE(PyCode_Check(PyDict_GetItemString(code.get(), "one")));
}

TEST_F(CodeArchiveTest, CodeOfAnotherInterpreterIsLeftAloneSoThatSourcesAreCompiled) {
  EXPECT_EQ(Modules(Archive(), PyImport_GetMagicNumber() + 1), 0);
  EXPECT_EQ(Modules("", PyImport_GetMagicNumber()), 0);
}

TEST_F(CodeArchiveTest, AnArchiveThatIsCutAnywhereGivesNothing) {
  const std::string archive = Archive();
  for (std::size_t size = 0; size < archive.size(); ++size) {
    EXPECT_EQ(Modules(std::string_view(archive).substr(0, size), PyImport_GetMagicNumber()), 0)
        << size;
  }
}

}  // namespace
}  // namespace dossier::worker
