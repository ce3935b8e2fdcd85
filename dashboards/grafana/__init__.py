"""Dashboards for Grafana and their provisioning, generated out of the product's own words and on-call's own numbers."""
