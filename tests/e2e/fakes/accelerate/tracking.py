# SPDX-License-Identifier: Apache-2.0
class GeneralTracker:
    main_process_only = True
