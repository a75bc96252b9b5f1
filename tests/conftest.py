"""What holds for every test: properties are tried on the same examples each time, however busy the machine is."""

from hypothesis import HealthCheck, settings

from tests import nursery

# Exploring is the work of bench/fuzz.py; a test that fails must fail again.
settings.register_profile("tests", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")


def pytest_sessionfinish() -> None:
    nursery.close()
