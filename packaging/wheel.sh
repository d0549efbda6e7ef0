#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the Python wheel: the package of python/ with the program, the documentation and config/ in it.
#   wheel.sh BINARY OUT_DIR
# Its tag is that of the C library which the program needs; pip knows such tags from 20.3 on.
set -euo pipefail
binary=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
root=$(realpath "$(dirname "$0")/..")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# A copy: building leaves files beside the sources.
mkdir "$scratch/python"
cp "$root/CMakeLists.txt" "$scratch/"
cp "$root"/python/{README.md,pyproject.toml,setup.py} "$scratch/python/"
(cd "$root/python" && find trainwatch -name '*.py' -exec cp --parents -t "$scratch/python" {} +)
(cd "$root" && cp --parents -t "$scratch/python/trainwatch" docs/*.md docs/rules/*.md docs/api/*.yaml)
cp -rL "$root/config" "$scratch/python/trainwatch/"  # which the documentation names
install -D -m 755 -t "$scratch/python/trainwatch/bin" "$binary"
strip "$scratch/python/trainwatch/bin/trainwatch"
install -D -m 644 -t "$scratch/python/trainwatch/licenses" "$root/LICENSE" \
  "$(dirname "$binary")/../packaging/files/third-party.txt.gz"

cd "$scratch/python"
/usr/bin/python3 - "$out" <<'PYTHON'
import sys
from setuptools import build_meta
build_meta.build_wheel(sys.argv[1], {"--build-option": ["--python-tag=py3", "--plat-name=manylinux_2_27_x86_64"]})
PYTHON
