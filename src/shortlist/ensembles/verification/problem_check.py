"""Whether a certificate is about the problem that a model's options mean."""

from typing import Any

from shortlist.ensembles.proofs.certificate import Certificate


def other_problem(certificate: Certificate, meant: dict[str, Any]) -> list[str]:
    """Say which fields of a certificate are about something else; a proof of that proves nothing.

    Parameters
    ----------
    certificate : dict
        Of the model, from a file, so that any field may be missing or of any type.
    meant : dict
        The fields that the model's options mean, by name.
    """
    return [
        f"the certificate is about other {field} than the model's options mean"
        for field, what in meant.items()
        if not _is_as_meant(certificate.get(field), what)
    ]


def _is_as_meant(found: Any, meant: Any) -> bool:
    """Whether a field is as meant; budgets from the sum of all costs on are one limit."""
    if isinstance(found, dict) and isinstance(meant, dict) and "costs" in meant:
        all_cost, budget = sum(meant["costs"]), found.get("budget")
        if type(budget) is int and min(budget, meant["budget"]) >= all_cost:
            found, meant = found | {"budget": all_cost}, meant | {"budget": all_cost}
    return bool(found == meant)
