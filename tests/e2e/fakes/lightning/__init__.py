# SPDX-License-Identifier: Apache-2.0
"""As much of Lightning's Trainer as its callbacks see, in the order of lightning 2.6."""
