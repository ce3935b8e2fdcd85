"""Pictures of the dashboards: the same files, the same queries, drawn without a Grafana."""
