# SPDX-License-Identifier: Apache-2.0
"""Further cases of the same kinds, made from seeds: other values, lengths and ways to print them."""

import invented_ends
import invented_frameworks
import invented_known
import invented_tables
import invented_text

CASES = (*invented_text.CASES, *invented_frameworks.CASES, *invented_known.CASES, *invented_tables.CASES, *invented_ends.CASES)
