"""Numbers as people write them, exactly."""

from decimal import Decimal, InvalidOperation

LARGEST_EXPONENT = 18
"""Numbers of 10^19 and more are refused: no value can be that large and exact."""


def as_decimal(text: str) -> Decimal | None:
    """Return a finite number below 10^19 in size, or None where the text is none.

    Examples
    --------
    >>> as_decimal(" 12.50 "), as_decimal("12,50"), as_decimal("1e300")
    (Decimal('12.50'), None, None)
    """
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    if not number.is_finite() or number.adjusted() > LARGEST_EXPONENT or "_" in text:
        return None
    return number
