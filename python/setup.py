# SPDX-License-Identifier: Apache-2.0
"""What pyproject.toml cannot say. packaging/wheel.sh builds the wheel."""

import os
import re

from setuptools import setup

HERE = os.path.dirname(os.path.abspath(__file__))


def version():
    """That of the program: it stands in one place."""
    with open(os.path.join(HERE, "..", "CMakeLists.txt"), encoding="utf-8") as file:
        return re.search(r"project\(trainwatch VERSION ([\d.]+)", file.read()).group(1)


setup(version=version())
