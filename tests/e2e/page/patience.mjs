// SPDX-License-Identifier: Apache-2.0
// As PATIENCE_SECONDS of harness.py: only what never comes fails, on a busy machine, too.

export const PATIENCE_SECONDS = 120;
