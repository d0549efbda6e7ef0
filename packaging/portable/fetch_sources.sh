#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Fetches the Debian sources of libraries that Debian ships without a static archive, in the versions of the installed
# development packages, into DIR/SOURCE. Needs no root; apt checks the signatures. Does nothing for what is there.
#   fetch_sources.sh DIR
set -euo pipefail
libraries=(fmtlib:libfmt-dev libisal:libisal-dev simdjson:libsimdjson-dev spdlog:libspdlog-dev)

mkdir -p "$1"
cd "$1"
missing=()
for library in "${libraries[@]}"; do
  source=${library%%:*}
  version=$(dpkg-query -W -f '${source:Version}' "${library#*:}")
  [ "$(cat "$source/.version" 2>/dev/null)" = "$version" ] || missing+=("$source=$version")
done
[ ${#missing[@]} -gt 0 ] || exit 0

# apt with the archives of this machine, but their sources.
apt=$PWD/apt
rm -rf "$apt"
mkdir -p "$apt/lists/partial" "$apt/parts" "$apt/sources"
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
  [ -f "$file" ] || continue
  case $file in
    *.list) sed -n 's/^deb /deb-src /p' "$file" >"$apt/parts/${file##*/}" ;;
    *.sources) sed 's/^Types:.*/Types: deb-src/' "$file" >"$apt/parts/${file##*/}" ;;
  esac
done
options=(-qq -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$apt/parts" -o "Dir::State::Lists=$apt/lists"
  -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root)
apt-get "${options[@]}" update
for source in "${missing[@]}"; do
  name=${source%%=*}
  (
    cd "$apt/sources"
    apt-get "${options[@]}" source --only-source --download-only "$source"
    dpkg-source --no-check --extract "$name"_*.dsc "$name" >"$apt/log"
  )
  echo "${source#*=}" >"$apt/sources/$name/.version"
  rm -rf "$name"
  mv "$apt/sources/$name" .
done
rm -rf "$apt"
