# SPDX-License-Identifier: Apache-2.0
"""Cases of cases_test.py that are not as wanted yet. One that is leaves this list, or the test fails."""

NAMES = set()
