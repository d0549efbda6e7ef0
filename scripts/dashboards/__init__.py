# SPDX-License-Identifier: Apache-2.0
"""The sources of the Grafana dashboards in config/grafana/dashboards; scripts/grafana.py writes these."""
