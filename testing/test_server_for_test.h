// Another program as the server of a test: what HttpListener does not speak (TLS, HTTP/2, CONNECT).
//
//   auto server = TestServer::StartPython(kTlsServer, {certificate.folder()});
//   Use(server->port());
//
// Thread-safety: one owner.

#ifndef DOSSIER_TESTING_TEST_SERVER_FOR_TEST_H_
#define DOSSIER_TESTING_TEST_SERVER_FOR_TEST_H_

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/files/file.h"

namespace dossier {

class TestServer {
 public:
  // A Python program that prints the line "port N" when it listens.
  static std::unique_ptr<TestServer> StartPython(const char* code,
                                                 const std::vector<std::string>& arguments) {
    std::vector<std::string> argv = {"python3", "-u", "-c", code};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    auto server = Start(std::move(argv), "\n");
    const std::string log = server->Log();
    const std::size_t at = log.find("port ") + 5;
    std::from_chars(log.data() + at, log.data() + log.size(), server->port_);
    return server;
  }

  // Any program; returns when it has written `ready` on its output.
  static std::unique_ptr<TestServer> Start(std::vector<std::string> argv, std::string_view ready) {
    std::unique_ptr<TestServer> server(new TestServer);
    // Ends with us, however we end.
    argv.insert(argv.begin(), {"setpriv", "--pdeathsig", "KILL"});
    server->Spawn(argv);
    while (server->pid_ > 0 && server->Log().find(ready) == std::string::npos) {
      if (waitpid(server->pid_, nullptr, WNOHANG) == server->pid_) server->pid_ = 0;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return server;
  }

  ~TestServer() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  bool runs() const { return pid_ > 0; }
  int port() const { return port_; }
  std::string Log() const { return ReadFile(log_path()).value_or(""); }

 private:
  TestServer() : folder_(*TempFolder::Make()) {}

  void Spawn(const std::vector<std::string>& argv) {
    std::vector<char*> words;
    for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log_path().c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    if (posix_spawnp(&pid_, words[0], &files, nullptr, words.data(), environ) != 0) pid_ = 0;
    posix_spawn_file_actions_destroy(&files);
  }

  std::string log_path() const { return folder_.path() + "/log"; }

  const TempFolder folder_;
  pid_t pid_ = 0;
  int port_ = 0;
};

}  // namespace dossier

#endif  // DOSSIER_TESTING_TEST_SERVER_FOR_TEST_H_
