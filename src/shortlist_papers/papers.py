"""List of the reproduced papers."""

from shortlist_papers.emsco import EMSCO
from shortlist_papers.evolution import EVOLUTION
from shortlist_papers.products import PRODUCTS
from shortlist_papers.pruning import PRUNING

PAPERS = {paper.name: paper for paper in (PRUNING, EMSCO, PRODUCTS, EVOLUTION)}
"""Papers by the name that the user types."""
