// SPDX-License-Identifier: Apache-2.0
// The floor under the time from an append to an alert: waking up, reading what was appended, making
// one row durable in SQLite as the state store does, and one send. Nothing is decoded or judged.
//
//     alert_floor FILE DATABASE
//
// prints a port, accepts one connection and sends it a byte for each append to FILE.
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>

#include "bench/loopback_client.h"

namespace {

using trainwatch::bench::check;

sqlite3* open_database(const char* path) {
  sqlite3* database = nullptr;
  check(sqlite3_open(path, &database) == SQLITE_OK, "sqlite3_open");
  const char* const setup =
      "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
      "CREATE TABLE alert (seq INTEGER PRIMARY KEY, body TEXT);";
  check(sqlite3_exec(database, setup, nullptr, nullptr, nullptr) == SQLITE_OK, "sqlite3_exec");
  return database;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int file = open(argv[1], O_RDONLY | O_CLOEXEC);
  check(file >= 0, argv[1]);
  lseek(file, 0, SEEK_END);
  const int watch = inotify_init1(IN_CLOEXEC);
  check(inotify_add_watch(watch, argv[1], IN_MODIFY) >= 0, "inotify_add_watch");
  sqlite3* const database = open_database(argv[2]);
  sqlite3_stmt* insert = nullptr;
  sqlite3_prepare_v2(database, "INSERT INTO alert (body) VALUES (?)", -1, &insert, nullptr);
  const std::string alert(1024, 'a');
  const int client = trainwatch::bench::accept_clients(1).front();
  std::array<char, 65536> bytes{};
  while (read(watch, bytes.data(), bytes.size()) > 0) {
    if (read(file, bytes.data(), bytes.size()) <= 0) continue;
    sqlite3_bind_text(insert, 1, alert.data(), static_cast<int>(alert.size()), SQLITE_STATIC);
    check(sqlite3_step(insert) == SQLITE_DONE, "sqlite3_step");  // its own transaction
    sqlite3_reset(insert);
    if (send(client, "a", 1, MSG_NOSIGNAL) != 1) break;
  }
  sqlite3_finalize(insert);
  sqlite3_close(database);
  return 0;
}
