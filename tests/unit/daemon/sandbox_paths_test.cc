// SPDX-License-Identifier: Apache-2.0
#include "daemon/app/sandbox_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "daemon/access/access.h"

namespace trainwatch::sandbox_paths_test {

using testing::Contains;
using testing::ElementsAre;
using testing::IsSupersetOf;

LoadedAccess nobody_logs_in() {
  return {std::make_shared<const Access>(), {}, {}};
}

TEST(SandboxPaths, AWatcherReadsItsPathsAndProcAndConnectsToNobody) {
  RunOptions options;
  options.config.storage.path = "/state";
  const SandboxPaths paths = sandbox_paths(options, {"/job"}, nobody_logs_in());
  EXPECT_THAT(paths.read, ElementsAre("/job", "/proc/self"));
  EXPECT_THAT(paths.write, ElementsAre("/state"));
  EXPECT_FALSE(paths.connect);
}

TEST(SandboxPaths, WhatTheConfigurationNamesIsReadForReloads) {
  RunOptions options;
  options.config_file = "/etc/trainwatch/../trainwatch/trainwatch.yaml";
  ReceiverConfig receiver;
  receiver.url_file = "/etc/trainwatch/hook.url";
  options.config.receivers.push_back(receiver);
  LoadedAccess access = nobody_logs_in();
  access.files = {"/etc/trainwatch/web.yml"};
  const SandboxPaths paths = sandbox_paths(options, {}, access);
  EXPECT_THAT(paths.read,
              IsSupersetOf({options.config_file, std::string("/etc/trainwatch/trainwatch.yaml"),
                            receiver.url_file}));
  EXPECT_THAT(paths.read, Contains(testing::StartsWith("/etc/trainwatch/web.yml")));
  EXPECT_TRUE(paths.connect);
}

}  // namespace trainwatch::sandbox_paths_test
