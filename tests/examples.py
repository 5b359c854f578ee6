"""Number of random examples for a property: few and fixed in `make test`, ten times as many in `make fuzz`."""

from hypothesis import settings


def examples(n: int) -> settings:
    """Take `n` examples in `make test`, where the default is 30."""
    profile = settings.get_profile(settings.get_current_profile_name())
    return settings(max_examples=n if profile.derandomize else 10 * n)
