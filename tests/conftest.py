"""For every test: hypothesis must not fail because the machine is busy."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("gcmem", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gcmem")
