#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what a shell and a reader know of the program, from what the program says of itself (--help, rules).

    manual.py BINARY OUT_DIR      trainwatch.1, trainwatch.yml.5, trainwatch (completion of bash), _trainwatch (of zsh)

The date in the manual pages is SOURCE_DATE_EPOCH or today.
"""

import json
import os
import re
import subprocess
import sys
import time
from typing import NamedTuple

HELP_COLUMN = 34  # commands/cli/cli.cc
SETTINGS = "Settings (keys of the file)"


class Entry(NamedTuple):
    """A flag, a positional or a command."""
    name: str       # --config.file
    type: str       # FILE
    variable: str   # TRAINWATCH_CONFIG_FILE, or ""
    help: str


class Help(NamedTuple):
    about: str
    usage: str
    sections: dict  # heading -> [Entry]
    footer: str


def run(binary, *arguments):
    return subprocess.run([binary, *arguments], check=True, text=True, stdout=subprocess.PIPE).stdout


def parse_entry(left, text):
    match = re.fullmatch(r"(\S+)\s*(.*?)(?:\s*\(Env:(\w+)\))?", left)
    name, kind, variable = match.group(1), match.group(2), match.group(3) or ""
    return Entry(name, re.sub(r" (\.\.\.|REQUIRED)", "", " " + kind).strip(), variable, text.strip())


def parse_help(text):
    """What CLI11 prints: a text, "Usage:", sections of entries, a text."""
    about, rest = text.split("Usage: ", 1)
    usage, _, rest = rest.partition("\n")
    sections, heading, footer = {}, None, []
    lines = rest.splitlines()
    for i, line in enumerate(lines):
        if re.fullmatch(r"\S.*:", line) and (i == 0 or not lines[i - 1]) and lines[i + 1].startswith("  "):
            heading = line[:-1]
            sections[heading] = []
        elif heading and re.match(r"  \S", line):
            wide = i + 1 < len(lines) and lines[i + 1].startswith(" " * HELP_COLUMN)
            left, text = (line, lines[i + 1]) if wide else (line[:HELP_COLUMN], line[HELP_COLUMN:])
            sections[heading].append(parse_entry(left.strip(), text))
        elif line and not line.startswith(" "):
            footer.append(line)
    return Help(" ".join(about.split()), usage, sections, "\n".join(footer))


def roff(text):
    """Text for a manual page: what its language would take for a command is escaped."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    return re.sub(r"^\.", "\\\\&.", escaped, flags=re.M)


def day():
    return time.strftime("%Y-%m-%d", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))))


def title(name, section, version, about):
    return ['.TH %s %s "%s" "trainwatch %s" "trainwatch"' % (name, section, day(), version), ".SH NAME",
            "%s \\- %s" % (roff(name.lower()), roff(about))]


def tagged(entry):
    """An entry as a paragraph with a tag."""
    text = entry.help
    # CLI11 says it in the help of --watch, whose variable it does not read itself.
    text = re.sub(r" \(Env:(\w+), (.*)\)$", r". Variable: \1, \2.", text)
    if text and not text.endswith((".", ":")) and "Default: " not in text:
        text += "."
    kind = " \\fI%s\\fR" % roff(entry.type) if entry.type else ""
    return [".TP", "\\fB%s\\fR%s" % (roff(entry.name.replace(",", ", ")), kind), roff(text)]


def manual(overall, commands, version):
    lines = title("TRAINWATCH", 1, version, "watch a training job and report lost training time")
    lines += [".SH SYNOPSIS"]
    for command in commands.values():
        lines += [".nf", roff(command.usage), ".fi"]
    lines += [".SH DESCRIPTION", roff(overall.about), ".SH COMMANDS"]
    for entry in overall.sections["Subcommands"]:
        command = commands[entry.name]
        lines += [".SS " + roff(entry.name), roff(entry.help) + "."]
        for heading, entries in command.sections.items():
            if heading == SETTINGS and entry.name == "run":
                lines += [".P", "Each setting of", ".BR trainwatch.yml (5)",
                          "is a flag, too: dots stay and underscores become dashes, as in", ".BR \\-\\-web.listen\\-address ."]
                continue
            for item in entries:
                if not item.name.startswith("-h"):
                    lines += tagged(item)
        if command.footer:
            lines += [".P", roff(command.footer)]
    codes, _, rest = overall.footer.partition("Every flag")
    lines += [".SH EXIT STATUS", roff(codes.replace("Exit codes: ", "").strip()),
              ".SH ENVIRONMENT", roff("Every flag" + rest.splitlines()[0]),
              "A flag overrides its variable, and both override the file.",
              ".SH FILES", ".TP", ".I /etc/trainwatch/trainwatch.yaml", "The configuration of the service.",
              ".SH EXAMPLES", ".TP", "trainwatch run \\-\\-watch=/path/of/the/job",
              roff("Watches a job that runs; the page and the metrics are at http://127.0.0.1:9797/."),
              ".TP", "trainwatch replay /path/of/the/job \\-\\-fail\\-on=warning",
              "Prints the alerts of files that are there, and exits with 3 if one is this severe.",
              ".SH SEE ALSO", ".BR trainwatch.yml (5)"]
    return "\n".join(lines) + "\n"


def key_of(flag):
    return flag.lstrip("-").replace("-", "_")


def bounds(param):
    """What a value of a rule's parameter may be."""
    if param["type"] == "number":
        return "%g..%g" % (param["min"], param["max"])
    return {"boolean": "true|false"}.get(param["type"], param["type"])


def default(param):
    if param["type"] == "number":
        return "%g" % param["default"]
    if param["type"] == "boolean":
        return str(param["default"]).lower()
    return "'%s'" % param["default"]


def file_manual(settings, rules, version):
    lines = title("TRAINWATCH.YML", 5, version, "configuration of trainwatch")
    lines += [".SH DESCRIPTION",
              "The file is YAML. Every key has a default, and an unknown key is an error that names what was meant.",
              "The keys below are paths:", ".B web.listen_address", "is", ".PP", ".nf", ".RS 4", "web:",
              "  listen_address: 127.0.0.1:9797", ".RE", ".fi", ".PP",
              roff("Durations are written as 500ms, 1.5s, 5m, 1h30m or 2d, sizes as 65536, 256KiB or 4MiB."),
              "Flags and environment variables override the file; see", ".BR trainwatch (1).",
              "A running trainwatch reads it again on SIGHUP; if it has a mistake, the old settings stay.",
              ".B trainwatch check\\-config", "finds the mistake beforehand.", ".SH WHAT IS WATCHED", ".TP", "\\fBwatch\\fR",
              roff("A list of directory trees and files, which need not exist yet. An entry is a path, or a map with the keys "
                   "`path`, `source` (its name), `job`, `rank` and `follow_symlinks` (off or within_root)."),
              ".SH SETTINGS"]
    for entry in settings:
        lines += tagged(entry._replace(name=key_of(entry.name), help=re.sub(r" Default: $", "", entry.help)))
    lines += [".SH RULES", roff("Each rule has `rules.NAME.enabled`, `rules.NAME.for`, `rules.NAME.keep_firing_for` and its "
                                "parameters, `rules.NAME.PARAMETER`.")]
    for rule in rules:
        off = "" if rule["on_by_default"] else " Off by default."
        lines += [".SS " + rule["id"], roff(rule["summary"] + off)]
        for param in rule["params"]:
            lines += tagged(Entry(param["name"], bounds(param), "",
                                  "%s Default: %s." % (param["help"], default(param))))
    lines += [".SH FILES", ".TP", ".I /etc/trainwatch/trainwatch.yaml", "What the service reads; every key with its default.",
              ".SH SEE ALSO", ".BR trainwatch (1)"]
    return "\n".join(lines) + "\n"


def values(entry):
    """The words that a flag takes, if it takes only some."""
    if entry.type.startswith("boolean"):
        return ["true", "false"]
    return entry.type.split("|") if re.fullmatch(r"[a-z-]+(\|[a-z-]+)+", entry.type) else []


def flags(command):
    return [entry for heading, entries in command.sections.items() for entry in entries
            if entry.name.startswith("-")]


def long_name(entry):
    return entry.name.split(",")[-1]


def bash(commands):
    names = " ".join(commands)
    lines = ["# Completion of bash for trainwatch.", "_trainwatch() {",
             "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} flags= words=",
             "  COMPREPLY=()", "  # A word with = or : comes in pieces.",
             "  if [[ $word == = ]]; then word=; elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD - 2]}; fi",
             "  if [[ $COMP_CWORD -eq 1 ]]; then",
             '    mapfile -t COMPREPLY < <(compgen -W "%s --help --version" -- "$word")' % names, "    return", "  fi",
             "  case ${COMP_WORDS[1]}:$before in"]
    for name, command in commands.items():
        for entry in flags(command):
            if values(entry):
                lines.append('    %s:%s) words="%s" ;;' % (name, long_name(entry), " ".join(values(entry))))
    lines += ["  esac", "  case ${COMP_WORDS[1]} in"]
    for name, command in commands.items():
        lines.append('    %s) flags="%s" ;;' % (name, " ".join(long_name(entry) for entry in flags(command))))
    lines += ["  esac", '  if [[ -n $words ]]; then', '    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")',
              "  elif [[ $word == -* ]]; then", '    mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$word")',
              "  else", "    compopt -o filenames 2>/dev/null", '    mapfile -t COMPREPLY < <(compgen -f -- "$word")', "  fi", "}",
              "complete -F _trainwatch trainwatch"]
    return "\n".join(lines) + "\n"


def zsh_quoted(text):
    return re.sub(r"([\[\]:\\])", r"\\\1", text).replace("'", "'\\''")


def zsh(overall, commands):
    lines = ["#compdef trainwatch", "_trainwatch() {", "  local -a commands=("]
    for entry in overall.sections["Subcommands"]:
        lines.append("    '%s:%s'" % (entry.name, zsh_quoted(entry.help)))
    lines += ["  )", "  if (( CURRENT == 2 )); then", "    _describe command commands", "    return", "  fi",
              "  local command=$words[2]", "  shift words", "  (( CURRENT-- ))", "  case $command in"]
    for name, command in commands.items():
        lines.append("    %s) _arguments \\" % name)
        for entry in flags(command):
            action = "_files"
            if values(entry):
                action = "(%s)" % " ".join(values(entry))
            value = ":%s:%s" % (zsh_quoted(entry.type), action) if entry.type else ""
            lines.append("      '*%s%s[%s]%s' \\" % (long_name(entry), "=" if entry.type else "",
                                                   zsh_quoted(entry.help), value))
        lines.append("      '*:file:_files' ;;")
    lines += ["  esac", "}", '_trainwatch "$@"']
    return "\n".join(lines) + "\n"


def main():
    binary, out = sys.argv[1:]
    overall = parse_help(run(binary, "--help"))
    commands = {entry.name: parse_help(run(binary, entry.name, "--help")) for entry in overall.sections["Subcommands"]}
    version = re.search(r"version (\S+)", run(binary, "version")).group(1)
    rules = json.loads(run(binary, "rules", "--format=json"))
    os.makedirs(out, exist_ok=True)
    for name, text in (("trainwatch.1", manual(overall, commands, version)),
                       ("trainwatch.yml.5", file_manual(commands["run"].sections[SETTINGS], rules, version)),
                       ("trainwatch", bash(commands)), ("_trainwatch", zsh(overall, commands))):
        with open(os.path.join(out, name), "w") as file:
            file.write(text)


if __name__ == "__main__":
    main()
