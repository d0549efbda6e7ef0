// SPDX-License-Identifier: Apache-2.0
#include "commands/cli/cli.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "support/source_path.h"
#include "tests/unit/daemon/config_fake_rules.h"

namespace trainwatch::cli_test {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

class CliTest : public testing::Test {
 protected:
  CliTest() {
    commands_.catalog = fakes_.catalog();
    commands_.run = [this](const RunOptions& options) { return run_ = options, 11; };
    commands_.replay = [this](const ReplayOptions& options, std::ostream&, std::ostream&) {
      return replay_ = options, 12;
    };
    commands_.analyze = [this](const AnalyzeOptions& options, std::ostream&, std::ostream&) {
      return analyze_ = options, 15;
    };
    commands_.report = [this](const ReportOptions& options, std::ostream&, std::ostream&) {
      return report_ = options, 16;
    };
    commands_.tensors = [this](const TensorsOptions& options, std::ostream&, std::ostream&) {
      return tensors_ = options, 17;
    };
    commands_.formats = [this](const FormatsOptions& options, std::ostream&, std::ostream&) {
      return formats_ = options, 18;
    };
    commands_.timeline = [this](const TimelineOptions& options, std::ostream&, std::ostream&) {
      return timeline_ = options, 17;
    };
    commands_.follow = [this](const FollowOptions& options) { return follow_ = options, 13; };
    commands_.sample = [this](const SampleOptions& options, std::ostream&) {
      return sample_ = options, 14;
    };
  }
  int call(std::vector<const char*> words) {
    words.insert(words.begin(), "trainwatch");
    out_.str("");
    err_.str("");
    return run_command_line(static_cast<int>(words.size()), words.data(), commands_, out_, err_);
  }
  void expect_usage_error(const std::vector<const char*>& words, const std::string& what) {
    EXPECT_EQ(call(words), 2);
    EXPECT_THAT(err_.str(), HasSubstr(what));
  }

  FakeCatalog fakes_;
  Commands commands_;
  RunOptions run_;
  ReplayOptions replay_;
  AnalyzeOptions analyze_;
  ReportOptions report_;
  TensorsOptions tensors_;
  FormatsOptions formats_;
  TimelineOptions timeline_;
  FollowOptions follow_;
  SampleOptions sample_;
  std::ostringstream out_;
  std::ostringstream err_;
};

class EnvironmentTest : public CliTest {
 protected:
  void set(const char* name, const char* value) {
    names_.push_back(name);
    setenv(name, value, 1);
  }
  void TearDown() override {
    for (const char* name : names_) unsetenv(name);
  }
  std::vector<const char*> names_;
};

const std::string kConfigs = source_path("tests/data/config/");

TEST_F(CliTest, RunTakesPathsSettingsAndRules) {
  const std::string file = "--config.file=" + kConfigs + "good/everything.yaml";
  EXPECT_EQ(call({"run", file.c_str(), "--watch=/a", "--watch", "/b:c",
                  "--web.listen-address=0.0.0.0:1", "--storage.path=/s", "--log.level=debug",
                  "--log.format=json", "--tail.poll-interval=1s", "--rules=stall,step_spike",
                  "--set", "stall.sigma=7", "--set=stall.window=20"}),
            11);
  EXPECT_EQ(run_.config_file, kConfigs + "good/everything.yaml");
  EXPECT_THAT(run_.flags.watch, ElementsAre("/a", "/b:c"));
  EXPECT_THAT(*run_.flags.rules, ElementsAre("stall", "step_spike"));
  const auto reloaded = load_config(run_.config_file, run_.flags, fakes_.catalog());
  ASSERT_TRUE(reloaded);
  for (const Config& config : {run_.config, *reloaded}) {
    EXPECT_EQ(config.web.listen_address, "0.0.0.0:1");
    EXPECT_EQ(config.tail.poll_interval, seconds{1});
    EXPECT_EQ(config.clients.ws.subscribers, 5U);  // of the file
    EXPECT_EQ(std::any_cast<const FakeParams&>(config.rules[1].config.params).window, 20);
  }
}

TEST_F(CliTest, ASwitchNeedsNoValue) {
  EXPECT_EQ(call({"run", "--web.insecure", "--watch=/a", "--web.debug"}), 11);
  EXPECT_TRUE(run_.config.web.insecure);
  EXPECT_TRUE(run_.config.web.debug);
  EXPECT_EQ(call({"run", "--watch=/a", "--web.insecure=false"}), 11);
  EXPECT_FALSE(run_.config.web.insecure);
  expect_usage_error({"run", "--watch=/a", "--web.insecure=maybe"}, "true nor false");
}

TEST_F(CliTest, RunNeedsSomethingToWatch) {
  expect_usage_error({"run"}, "nothing to watch");
  expect_usage_error({"run", "--watch="}, "--watch");
}

TEST_F(CliTest, ABadFileIsExitCode78) {
  const std::string file = "--config.file=" + kConfigs + "bad/bound.yaml";
  EXPECT_EQ(call({"run", "--watch=/a", file.c_str()}), 78);
  EXPECT_THAT(err_.str(), HasSubstr("bound.yaml:3: rules.step_spike.sigma: 0.5 is outside 1..50"));
}

TEST_F(CliTest, ABadFlagIsWrongUsage) {
  expect_usage_error({"run", "--watch=/a", "--tail.max-files=0"},
                     "--tail.max-files: 0 is outside 1..1000000");
  expect_usage_error({"run", "--watch=/a", "--log.level=loud"}, "debug|info|warn|error");
  expect_usage_error({"replay", "x", "--set=stall.sigma=0"},
                     "--set: stall.sigma: 0 is outside 1..50");
  expect_usage_error({"replay", "x", "--rules=stal"}, "did you mean 'stall'?");
  expect_usage_error({"replay", "x", "--fail-on=bad"}, "info|warning|critical");
  expect_usage_error({"analyze", "x", "--what=heatmap", "--steps=last"}, "incl|default|raw");
  expect_usage_error({"replay"}, "PATH");
  expect_usage_error({"run", "--nonsense"}, "--nonsense");
  expect_usage_error({"replya", "x"}, "no command 'replya' (did you mean 'replay'?)");
  expect_usage_error({}, "subcommand");
}

TEST_F(CliTest, ReplayTakesPathsAnywhere) {
  EXPECT_EQ(call({"replay", "--set", "stall.sigma=7", "a.json", "--rules", "stall", "b",
                  "--fail-on=warning", "--progress"}),
            12);
  EXPECT_THAT(replay_.paths, ElementsAre("a.json", "b"));
  EXPECT_THAT(replay_.flags.set, ElementsAre("stall.sigma=7"));
  EXPECT_EQ(replay_.fail_on, Severity::warning);
  EXPECT_TRUE(replay_.progress);
}

TEST_F(CliTest, TheFormatIsAsked) {
  EXPECT_EQ(call({"replay", "a", "--format=text"}), 12);
  EXPECT_TRUE(replay_.text);
  EXPECT_EQ(call({"replay", "a", "--format=json"}), 12);
  EXPECT_FALSE(replay_.text);
  EXPECT_EQ(call({"follow", "a", "--format=text", "--min-severity=critical"}), 13);
  EXPECT_TRUE(follow_.text);
  EXPECT_EQ(follow_.least, Severity::critical);
  EXPECT_EQ(call({"run", "--watch=/a", "--format=text"}), 11);
  ASSERT_TRUE(run_.console);
  EXPECT_TRUE(run_.console->text);
  EXPECT_EQ(run_.console->least, Severity::warning);
  EXPECT_EQ(call({"run", "--watch=/a", "--format=json"}), 11);
  ASSERT_TRUE(run_.console);
  EXPECT_EQ(run_.console->least, Severity::info);
  expect_usage_error({"replay", "a", "--format=yaml"}, "text|json");
  expect_usage_error({"run", "--watch=/a", "--min-severity=bad"}, "info|warning|critical");
}

TEST_F(CliTest, CommandsOnFinishedFilesTakeThePreset) {
  using Setting = std::pair<std::string, std::vector<std::string>>;
  const Setting preset{"rules.preset", {"sagemaker-code"}};
  EXPECT_EQ(call({"replay", "a", "--rules.preset=sagemaker-code"}), 12);
  EXPECT_THAT(replay_.flags.settings, ElementsAre(preset));
  EXPECT_EQ(call({"analyze", "a", "--what=heatmap", "--rules.preset=sagemaker-code"}), 15);
  EXPECT_THAT(analyze_.flags.settings, ElementsAre(preset));
  EXPECT_EQ(call({"report", "a", "-o", "b", "--rules.preset=sagemaker-code"}), 16);
  EXPECT_THAT(report_.flags.settings, ElementsAre(preset));
  expect_usage_error({"replay", "a", "--rules.preset=code"},
                     "trainwatch|sagemaker-code|sagemaker-docs");
}

TEST_F(CliTest, AnalyzeTakesNames) {
  EXPECT_EQ(call({"analyze", "a", "--what=heatmap,batchtime", "b", "--job=j", "--steps=raw",
                  "--operator=aten::mm"}),
            15);
  EXPECT_THAT(analyze_.paths, ElementsAre("a", "b"));
  EXPECT_THAT(analyze_.what, ElementsAre("heatmap", "batchtime"));
  EXPECT_EQ(analyze_.job, "j");
  EXPECT_EQ(analyze_.steps, StepSelection::all);
  EXPECT_EQ(analyze_.op, "aten::mm");
  expect_usage_error({"analyze", "a"}, "--what");
}

TEST_F(CliTest, ReportTakesAFile) {
  EXPECT_EQ(call({"report", "a", "b", "-o", "report.html", "--job=j", "--set=stall.sigma=7"}), 16);
  EXPECT_THAT(report_.paths, ElementsAre("a", "b"));
  EXPECT_EQ(report_.output, "report.html");
  EXPECT_EQ(report_.job, "j");
  EXPECT_THAT(report_.flags.set, ElementsAre("stall.sigma=7"));
  EXPECT_EQ(call({"report", "a", "-o", "-"}), 16);
  EXPECT_EQ(report_.output, "-");
  EXPECT_EQ(call({"report", "a", "--output=x.html"}), 16);
  EXPECT_EQ(report_.output, "x.html");
  expect_usage_error({"report", "a"}, "--output");
  expect_usage_error({"report", "-o", "x.html"}, "PATH");
}

TEST_F(CliTest, Tensors) {
  EXPECT_EQ(
      call({"tensors", "a", "--collection=losses", "--regex=^loss", "--step=3", "--mode=EVAL"}),
      17);
  EXPECT_THAT(tensors_.paths, ElementsAre("a"));
  EXPECT_EQ(tensors_.collection, "losses");
  EXPECT_EQ(tensors_.regex, "^loss");
  EXPECT_EQ(tensors_.step, 3);
  EXPECT_EQ(tensors_.mode, TensorMode::eval);
  EXPECT_EQ(call({"tensors", "a"}), 17);
  EXPECT_FALSE(tensors_.step || tensors_.regex || tensors_.mode || tensors_.collection);
  EXPECT_EQ(call({"tensors", "a", "--worker=worker_1", "--slice=0,:", "--format=png"}), 17);
  EXPECT_EQ(tensors_.worker, "worker_1");
  EXPECT_EQ(tensors_.slice, "0,:");
  EXPECT_EQ(tensors_.format, TensorsOptions::Format::png);
  EXPECT_EQ(call({"tensors", "a", "--reduction=abs_l2"}), 17);
  EXPECT_EQ(tensors_.reduction, "abs_l2");
  EXPECT_EQ(tensors_.format, TensorsOptions::Format::json);
  expect_usage_error({"tensors", "a", "--reduction=median"}, "--reduction");
  expect_usage_error({"tensors", "a", "--format=csv"}, "--format");
  expect_usage_error({"tensors", "a", "--mode=train"}, "--mode");
  expect_usage_error({"tensors", "a", "--step=-1"}, "--step");
  expect_usage_error({"tensors"}, "PATH");
}

TEST_F(CliTest, FormatsTakesFilesOrNone) {
  EXPECT_EQ(call({"formats", "a", "b", "--format=json"}), 18);
  EXPECT_THAT(formats_.paths, ElementsAre("a", "b"));
  EXPECT_TRUE(formats_.json);
  EXPECT_EQ(call({"formats"}), 18);
  EXPECT_TRUE(formats_.paths.empty() && !formats_.json);
  expect_usage_error({"formats", "--format=xml"}, "--format");
}

TEST_F(CliTest, TimelineTakesPathsAndAFile) {
  EXPECT_EQ(call({"timeline", "a", "b", "--counters", "--steps=raw", "-o", "out.json.gz"}), 17);
  EXPECT_THAT(timeline_.paths, ElementsAre("a", "b"));
  EXPECT_EQ(timeline_.output, "out.json.gz");
  EXPECT_TRUE(timeline_.counters);
  EXPECT_EQ(timeline_.steps, StepSelection::all);
  EXPECT_EQ(call({"timeline", "a", "-o", "-"}), 17);
  EXPECT_FALSE(timeline_.counters);
  EXPECT_EQ(timeline_.steps, StepSelection::included);
  expect_usage_error({"timeline", "a", "--counters"}, "--output");
  expect_usage_error({"timeline", "--counters", "-o", "x.json"}, "PATH");
}

TEST_F(CliTest, FollowTakesAUrl) {
  EXPECT_EQ(call({"follow", "http://127.0.0.1:9797", "--after=7", "--rule=stall", "--name=pager"}),
            13);
  EXPECT_EQ(follow_.url, "http://127.0.0.1:9797");
  EXPECT_EQ(follow_.after, 7U);
  EXPECT_EQ(follow_.rule, "stall");
  EXPECT_EQ(follow_.name, "pager");
  expect_usage_error({"follow", "x", "--name=a b"}, "--name");
  expect_usage_error({"follow", "x", "--after=-1"}, "--after");
}

TEST_F(CliTest, SampleTakesTimes) {
  EXPECT_EQ(call({"sample", "--out=/job", "--interval=1.5s", "--duration=1h", "--node=algo-1",
                  "--pid=42"}),
            14);
  EXPECT_EQ(sample_.interval, milliseconds{1500});
  EXPECT_EQ(sample_.duration, std::chrono::hours{1});
  EXPECT_EQ(sample_.node, "algo-1");
  EXPECT_EQ(sample_.pid, 42);
  expect_usage_error({"sample"}, "--out");
  expect_usage_error({"sample", "--out=/job", "--interval=1ms"}, "1ms is outside 10ms..1h");
  expect_usage_error({"sample", "--out=/job", "--interval=5"}, "not a duration");
  expect_usage_error({"sample", "--out=/job", "--node=a/b"}, "letters, digits");
  expect_usage_error({"sample", "--out=/job", "--pid=0"}, "--pid");
}

TEST_F(CliTest, RulesPrintsTheCatalog) {
  EXPECT_EQ(call({"rules"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("step_spike (one per rank)\n  Says nothing.\n"));
  EXPECT_THAT(out_.str(), HasSubstr("    sigma = 6   (1..50)\n        Deviations that count.\n"));
  EXPECT_EQ(call({"rules", "--format=json"}), 0);
  EXPECT_THAT(out_.str(),
              HasSubstr(R"({"name":"sigma","type":"number","default":6,"min":1,"max":50,"help":)"));
  EXPECT_EQ(call({"rules", "--format=markdown"}), 0);
  EXPECT_THAT(out_.str(),
              HasSubstr("| `stall` | rank | Says nothing. | `sigma` (6), `window` (200) |\n"));
  expect_usage_error({"rules", "--format=xml"}, "text|json|markdown");
}

TEST_F(CliTest, CheckConfigSaysGoodOrWhatIsWrong) {
  EXPECT_EQ(call({"check-config", (kConfigs + "good/everything.yaml").c_str()}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("ok; rules enabled: 1, paths watched: 2"));
  EXPECT_EQ(call({"check-config", (kConfigs + "bad/several.yaml").c_str()}), 78);
  EXPECT_THAT(err_.str(), HasSubstr("several.yaml:7: log.level"));
}

TEST_F(CliTest, VersionIsSeveralLines) {
  EXPECT_EQ(call({"version"}), 0);
  EXPECT_THAT(out_.str(), testing::MatchesRegex("trainwatch, version [0-9.]+ \\(revision: .+\\)\n"
                                                "  compiler: +.+\n  platform: +linux/.+\n"));
  const std::string text = out_.str();
  EXPECT_EQ(call({"--version"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("trainwatch, version"));
}

TEST_F(CliTest, HelpIsOnStandardOutputAndNamesTwinsAndDefaults) {
  EXPECT_EQ(call({"--help"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("78 bad configuration"));
  EXPECT_EQ(call({"help"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("78 bad configuration"));
  EXPECT_EQ(call({"help", "run"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("--watch"));
  EXPECT_EQ(call({"help", "rum"}), 2);
  EXPECT_EQ(call({"run", "--help"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("TRAINWATCH_WEB_LISTEN_ADDRESS"));
  EXPECT_THAT(out_.str(), HasSubstr("127.0.0.1:9797"));
  EXPECT_THAT(err_.str(), testing::IsEmpty());
}

TEST_F(EnvironmentTest, StandsBelowTheFlag) {
  EXPECT_EQ(environment_variable("--web.listen-address"), "TRAINWATCH_WEB_LISTEN_ADDRESS");
  set("TRAINWATCH_WATCH", "/a:/b");
  set("TRAINWATCH_LOG_LEVEL", "error");
  set("TRAINWATCH_STORAGE_PATH", "/s");
  set("TRAINWATCH_RULES", "stall,step_spike");
  EXPECT_EQ(call({"run", "--log.level=warn"}), 11);
  EXPECT_THAT(run_.flags.watch, ElementsAre("/a", "/b"));
  EXPECT_THAT(*run_.flags.rules, ElementsAre("stall", "step_spike"));
  const auto config = load_config("", run_.flags, fakes_.catalog());
  EXPECT_EQ(config->log.level, LogLevel::warn);
  EXPECT_EQ(config->storage.path, "/s");
  EXPECT_EQ(call({"run", "--watch=/c"}), 11);
  EXPECT_THAT(run_.flags.watch, ElementsAre("/c"));
}

TEST_F(EnvironmentTest, EveryCommandHasThem) {
  set("TRAINWATCH_OUT", "/job");
  set("TRAINWATCH_INTERVAL", "2s");
  set("TRAINWATCH_PROGRESS", "true");
  set("TRAINWATCH_FAIL_ON", "critical");
  set("TRAINWATCH_AFTER", "9");
  set("TRAINWATCH_FORMAT", "text");
  EXPECT_EQ(call({"sample"}), 14);
  EXPECT_EQ(sample_.out, "/job");
  EXPECT_EQ(sample_.interval, seconds{2});
  EXPECT_EQ(call({"replay", "x"}), 12);
  EXPECT_TRUE(replay_.progress);
  EXPECT_EQ(replay_.fail_on, Severity::critical);
  EXPECT_TRUE(replay_.text);
  EXPECT_EQ(call({"follow", "x"}), 13);
  EXPECT_TRUE(follow_.text);
  EXPECT_EQ(follow_.after, 9U);
  set("TRAINWATCH_INTERVAL", "often");
  expect_usage_error({"sample"}, "not a duration");
}

}  // namespace trainwatch::cli_test
