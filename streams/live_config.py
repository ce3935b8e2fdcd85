"""The config in force, and the file it came from: a change on disk is taken up, a bad one is refused and said."""

from __future__ import annotations

from collections.abc import Mapping

import structlog

from monitor.errors import ConfigError
from monitor.plan import Plan
from streams.settings import Settings, load_settings

log = structlog.get_logger(__name__)


class LiveConfig:
    """Watches a settings file by its time and size.

    Only what decides about records and numbers changes live; brokers, topics and ports are read at start alone. A file
    is read once two looks found it the same: while an editor writes it, it may be empty, which is a config too. The
    thinning factor is the board's, not the file's, and stays through a change of it.

    Parameters
    ----------
    settings
        What was loaded at start.
    env
        The environment that was loaded with it.
    """

    def __init__(self, settings: Settings, env: Mapping[str, str]) -> None:
        self._settings = settings
        self._env = env
        self._stamp = self._seen = self._read_stamp()
        self.plan = Plan(settings.config)
        self.refused = 0
        """How many changes were refused since the start."""
        self.problem = ""
        """What is wrong with the file as it stands; empty while the file is the config in force."""

    def _read_stamp(self) -> tuple[int, int, int] | None:
        path = self._settings.path
        if path is None:
            return None
        try:
            stat = path.stat()
        except OSError:
            return None
        return (stat.st_mtime_ns, stat.st_size, stat.st_ino)

    def poll(self) -> bool:
        """Look at the file; return whether another plan is in force now."""
        stamp = self._read_stamp()
        still, self._seen = stamp == self._seen, stamp
        if stamp == self._stamp or not still:
            return False
        self._stamp = stamp
        try:
            if stamp is not None and not stamp[1]:
                # every default at once, the published key too, is nobody's wish
                raise ConfigError("", "the file is empty", source=str(self._settings.path))  # noqa: TRY301
            settings = load_settings(self._settings.path, self._settings.overrides, self._env, broker=False)
            plan = Plan(settings.config, self.plan.thinning)
        except ConfigError as error:
            self.refused += 1
            self.problem = str(error)
            log.error("config_refused", problem=str(error), config=self.plan.id)  # noqa: TRY400  # an operator's slip, no trace wanted
            return False
        self.problem = ""
        changed = plan.id != self.plan.id
        if changed:
            log.info("config_changed", config=plan.id, net=plan.net.version)
            self.plan = plan
        return changed

    def thin(self, factor: float) -> None:
        """Take the thinning factor (in (0, 1]) that the board decided on into the plan in force."""
        if factor != self.plan.thinning:
            self.plan = Plan(self.plan.config, factor)
