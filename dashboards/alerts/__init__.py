"""Every alert, in the order of the runbook: recall first, then what is known of it, then what makes it."""

from __future__ import annotations

from dashboards.alert import Alert
from dashboards.alerts import labels, leaks, pipeline, recall, review, traffic, workers
from dashboards.recording import Recording
from dashboards.settings import FILE, Settings, nearest
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
    names = [alert.name for alert in found]
    unknown = [(name, nearest(name, names)) for name in sorted(settings.alerts.keys() - set(names))]
    unread = [(f"{alert.name}.{key}", near) for alert in found for key, near in alert.knobs.unread().items()]
    for key, near in (*unknown, *unread):
        raise ConfigError(f"alerts.{key}", f"no alert reads it{near}", source=FILE.name)
    return found
