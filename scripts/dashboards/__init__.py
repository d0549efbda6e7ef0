"""The sources of the Grafana dashboards in config/grafana/dashboards; scripts/grafana.py writes these."""
