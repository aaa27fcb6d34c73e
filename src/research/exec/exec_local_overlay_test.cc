// System folders that a node of the local sandbox may change (RSP-22). Each test runs as the user
// and, if root, as somebody who owns no file of the system.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <optional>

#include "base/files/file.h"
#include "research/exec/exec_local.h"
#include "testing/result_matchers.h"
#include "testing/thread_sanitizer.h"

namespace dossier::research {
namespace {

using ::dossier::testing::Succeeds;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr uid_t kNobody = 65534;

enum class As : std::uint8_t { kUser, kNobody };

class ExecLocalOverlayTest : public ::testing::TestWithParam<As> {
 protected:
  static void SetUpTestSuite() {
    auto folder = TempFolder::Make();
    ASSERT_THAT(folder, Succeeds());
    ASSERT_EQ(chmod(folder->path().c_str(), 0755), 0);
    shared_ = std::make_unique<TempFolder>(std::move(*folder));
  }
  static void TearDownTestSuite() { shared_.reset(); }

  void SetUp() override {
    if (kThreadSanitizer) GTEST_SKIP() << "no user namespaces under ThreadSanitizer";
    if (GetParam() == As::kNobody && geteuid() != 0) GTEST_SKIP() << "only root becomes another";
    auto folder = TempFolder::Make();
    ASSERT_THAT(folder, Succeeds());
    folder_.emplace(std::move(*folder));
    ASSERT_EQ(chmod(folder_->path().c_str(), 0755), 0);
    ASSERT_NO_FATAL_FAILURE(MakeBackends());
    SkipWithoutOverlay(*StartNode("a"));
  }

  void MakeBackends(LocalOptions options = {}) {
    options.system =
        fmt::format("{}/{}", shared_->path(), GetParam() == As::kUser ? "user" : "nobody");
    auto make = MakeLocalBackends(std::move(options));
    ASSERT_THAT(make, Succeeds());
    make_ = std::move(*make);
  }

  void SkipWithoutOverlay(const ExecBackend& backend) {
    const std::string reason = backend.Facts().no_overlay;
    if (!reason.empty()) GTEST_SKIP() << "no overlay here: " << reason;
  }

  std::string NodeFolder(std::string_view node) const {
    return fmt::format("{}/nodes/{}", folder_->path(), node);
  }
  std::string Mark(std::string_view node) const {
    return fmt::format("{}/workspace/{}", NodeFolder(node), kInstallMark);
  }

  std::unique_ptr<ExecBackend> StartNode(std::string_view node,
                                         SandboxSpec::Use use = SandboxSpec::Use::kInstall) {
    const SandboxSpec spec{.workspace = NodeFolder(node) + "/workspace",
                           .environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"},
                           .system = NodeFolder(node) + "/system",
                           .use = use};
    EXPECT_THAT(MakeFolders(spec.workspace), Succeeds());
    if (GetParam() == As::kNobody) {
      EXPECT_EQ(chown(spec.workspace.c_str(), kNobody, kNobody), 0);
    }
    auto backend = make_("worker-0");
    EXPECT_THAT((*backend)->Start(spec), Succeeds());
    return std::move(*backend);
  }

  static ExecResult Run(ExecBackend& backend, std::string line, Phase phase = Phase::kInstall) {
    auto result = backend.Run({.command = std::move(line), .phase = phase}, {});
    EXPECT_THAT(result, Succeeds());
    return result.value_or(ExecResult{});
  }

  // State shared by all nodes of a run is made once for all tests.
  static inline std::unique_ptr<TempFolder> shared_;
  std::optional<TempFolder> folder_;
  BackendFactory make_;
};

INSTANTIATE_TEST_SUITE_P(Users, ExecLocalOverlayTest, ::testing::Values(As::kUser, As::kNobody),
                         [](const auto& info) {
                           return info.param == As::kUser ? "AsTheUser" : "AsNobody";
                         });

TEST_P(ExecLocalOverlayTest, WhatPhase1InstallsStaysInItsNode) {  // RSP-22, RSP-23
  const auto node = StartNode("a");
  const ExecResult made =
      Run(*node,
          "printf '#!/bin/sh\\necho tool\\n' > /usr/local/bin/dossier-tool && "
          "chmod 755 /usr/local/bin/dossier-tool && echo x > /etc/dossier-tool");
  EXPECT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.layers, Contains("overlay"));
  EXPECT_EQ(made.no_overlay, "");
  EXPECT_EQ(Run(*node, "dossier-tool").out, "tool\n");
  for (const Phase phase : {Phase::kCompile, Phase::kRun}) {
    const ExecResult later = Run(*node, "dossier-tool && cat /etc/dossier-tool", phase);
    EXPECT_EQ(later.out, "tool\nx\n") << later.err;
    EXPECT_THAT(later.layers, Contains("overlay"));
    EXPECT_NE(Run(*node, "echo x > /usr/local/bin/more", phase).status, 0);
    EXPECT_NE(Run(*node, "rm /usr/local/bin/dossier-tool", phase).status, 0);
  }
  EXPECT_EQ(Run(*StartNode("a", SandboxSpec::Use::kProgram), "dossier-tool", Phase::kRun).out,
            "tool\n");
  EXPECT_FALSE(Exists("/usr/local/bin/dossier-tool"));
  EXPECT_EQ(Run(*StartNode("b"), "dossier-tool").status, 127);
  EXPECT_EQ(Run(*node, "test -w /etc/dossier-tool", Phase::kRun).status, 1);
}

TEST_P(ExecLocalOverlayTest, FilesOfTheSystemAreReplacedAndRemoved) {  // RSP-22
  const auto node = StartNode("a");
  const ExecResult changed = Run(*node,
                                 "cp /usr/bin/true /usr/bin/new && mv /usr/bin/new /usr/bin/false "
                                 "&& rm /usr/bin/yes && mkdir /opt/tool /var/lib/tool");
  EXPECT_EQ(changed.status, 0) << changed.err;
  EXPECT_EQ(Run(*node, "/usr/bin/false && test ! -e /usr/bin/yes && test -d /opt/tool", Phase::kRun)
                .status,
            0);
  EXPECT_TRUE(Exists("/usr/bin/yes"));
  EXPECT_FALSE(Exists("/opt/tool"));
}

TEST_P(ExecLocalOverlayTest, AnUnchangedSystemHasNoOverlayLater) {  // section 7
  const auto node = StartNode("a");
  EXPECT_THAT(Run(*node, "true", Phase::kRun).layers, Not(Contains("overlay")));
}

TEST_P(ExecLocalOverlayTest, AccountsAndPasswordsOfTheHostStayHidden) {  // RSP-22, RSP-23
  const auto node = StartNode("a");
  for (const char* path :
       {"/etc/shadow", "/etc/gshadow", "/etc/ssh", "/etc/apt/auth.conf", "/etc/apt/auth.conf.d",
        "/etc/machine-id", "/var/lib/private", "/root", "/home"}) {
    EXPECT_EQ(Run(*node, fmt::format("test -e {}", path)).status, 1) << path;
  }
  // What the sandbox shows anyway is also in its own /etc.
  for (const char* path : {"/etc/ssl/certs", "/etc/alternatives", "/etc/ld.so.cache",
                           "/etc/resolv.conf", "/etc/apt/apt.conf.d", "/etc/debconf.conf"}) {
    if (!Exists(path)) continue;
    EXPECT_EQ(Run(*node, fmt::format("test -e {}", path)).status, 0) << path;
  }
  EXPECT_EQ(Run(*node, "id -un").out, "root\n");
  // Runs as another user; the layers themselves are at no path that it sees.
  EXPECT_NE(Run(*node, "ls " + NodeFolder("a")).status, 0);
  EXPECT_NE(Run(*node, "ls " + folder_->path()).status, 0);
  struct stat info;
  ASSERT_EQ(stat((NodeFolder("a") + "/system").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);  // set-user-id files of a program cannot be reached
}

TEST_P(ExecLocalOverlayTest, APackageManagerWorksInPhase1) {  // RSP-22, RSP-24
  const auto node = StartNode("a");
  if (Run(*node, "command -v dpkg-deb").status != 0) GTEST_SKIP() << "no dpkg here";
  // Includes a file with an id that the user namespace does not know.
  const ExecResult installed = Run(
      *node,
      "mkdir -p p/DEBIAN p/usr/bin p/usr/share/doc/dossier-hello && "
      "printf 'Package: dossier-hello\\nVersion: 1\\nArchitecture: all\\nMaintainer: A <a@b.c>\\n"
      "Description: x\\n' > p/DEBIAN/control && "
      "printf '#!/bin/sh\\nchown man:man /usr/bin/dossier-hello\\n' > p/DEBIAN/postinst && "
      "chmod 755 p/DEBIAN/postinst && printf '#!/bin/sh\\necho hello\\n' > p/usr/bin/dossier-hello "
      "&& "
      "chmod 755 p/usr/bin/dossier-hello && echo x > p/usr/share/doc/dossier-hello/copyright && "
      "dpkg-deb --build p hello.deb && sudo dpkg -i hello.deb");
  EXPECT_EQ(installed.status, 0) << installed.out << installed.err;
  EXPECT_THAT(installed.note, HasSubstr("sudo"));
  EXPECT_EQ(Run(*node, "dossier-hello", Phase::kRun).out, "hello\n");
  EXPECT_THAT(Run(*node, "dpkg -s dossier-hello", Phase::kRun).out, HasSubstr("install ok"));
  EXPECT_EQ(Run(*node, "dpkg -r dossier-hello && ! command -v dossier-hello").status, 0);
  const ExecResult late = Run(*node, "apt-get install hello", Phase::kRun);
  EXPECT_EQ(late.status, 126);
  EXPECT_THAT(late.refused, HasSubstr("needs root"));
  EXPECT_FALSE(Exists("/usr/bin/dossier-hello"));
}

TEST_P(ExecLocalOverlayTest, AResumedNodeHasItsLayerOrForgetsItsMark) {  // RSP-22, RSP-48
  ASSERT_EQ(Run(*StartNode("a"),
                "mkdir -p .dossier && echo 1 > .dossier/phase1_step && "
                "echo x > /usr/local/kept")
                .status,
            0);
  MakeBackends();  // another process
  EXPECT_EQ(Run(*StartNode("a"), "cat /usr/local/kept").out, "x\n");
  EXPECT_TRUE(Exists(Mark("a")));

  ASSERT_THAT(RemoveAll(NodeFolder("a") + "/system"), Succeeds());
  EXPECT_NE(Run(*StartNode("a"), "cat /usr/local/kept").status, 0);
  EXPECT_FALSE(Exists(Mark("a")));

  // A machine without overlays cannot continue from what one with them installed.
  ASSERT_EQ(Run(*StartNode("a"), "mkdir -p .dossier && echo 2 > .dossier/phase1_step").status, 0);
  MakeBackends({.disabled_layers = {"overlay"}});
  (void)StartNode("a");
  EXPECT_FALSE(Exists(Mark("a")));
  EXPECT_FALSE(Exists(NodeFolder("a") + "/system"));
}

TEST_P(ExecLocalOverlayTest, ARemovedNodeLeavesNothing) {  // RSP-22
  const auto node = StartNode("a");
  ASSERT_EQ(Run(*node, "mkdir -p /usr/local/deep/er && chmod 0 /usr/local/deep").status, 0);
  ASSERT_THAT(RemoveAll(NodeFolder("a") + "/system"), Succeeds());
  EXPECT_FALSE(Exists(NodeFolder("a") + "/system"));
}

TEST_P(ExecLocalOverlayTest, WithoutAnOverlayTheReasonIsInEveryResult) {  // RSP-22, RSP-24
  MakeBackends({.overlay = LocalOptions::Overlay::kNo});
  const auto node = StartNode("a");
  EXPECT_EQ(node->Facts().root, SandboxFacts::Root::kNo);
  const ExecResult result = Run(*node, "touch /usr/local/x");
  EXPECT_NE(result.status, 0);
  EXPECT_EQ(result.no_overlay, "switched off");
  EXPECT_THAT(result.layers, Not(Contains("overlay")));
  EXPECT_EQ(Run(*node, "apt-get install hello").status, 126);
  EXPECT_NE(Run(*node, "id -u").out, "0\n");
}

}  // namespace
}  // namespace dossier::research
