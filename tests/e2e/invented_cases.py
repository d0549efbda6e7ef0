# SPDX-License-Identifier: Apache-2.0
"""Further cases of the same kinds, made from seeds."""

CASES = ()
