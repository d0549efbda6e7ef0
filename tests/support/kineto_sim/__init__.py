# SPDX-License-Identifier: Apache-2.0
"""The simulation behind kineto_gen.py: its docstring says what is simulated, and how."""
