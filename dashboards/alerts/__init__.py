"""Every alert, in the order of the runbook: recall first, then what is known of it, then what makes it."""

from __future__ import annotations

from dashboards.alert import Alert
from dashboards.alerts import labels, leaks, pipeline, recall, review, traffic, workers
from dashboards.recording import Recording
from dashboards.settings import FILE, Settings
from monitor.errors import ConfigError


def every_alert(settings: Settings) -> list[Alert]:
    """Return all alerts.

    Raises
    ------
    ConfigError
        A number is missing, or one is there that no alert asks for.
    """
    recording = Recording(settings)
    parts = (recall, leaks, labels, review, traffic, pipeline, workers)
    found = [alert for part in parts for alert in part.alerts(settings, recording)]
    unknown = sorted(settings.alerts.keys() - {alert.name for alert in found})
    unread = [f"{alert.name}.{key}" for alert in found for key in alert.knobs.unread()]
    for key in (*unknown, *unread):
        raise ConfigError(f"alerts.{key}", "no alert reads it", source=FILE.name)
    return found
