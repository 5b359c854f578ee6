"""The papers whose experiments can be run again."""

from shortlist.papers.emsco import EMSCO
from shortlist.papers.evolution import EVOLUTION
from shortlist.papers.products import PRODUCTS
from shortlist.papers.pruning import PRUNING

PAPERS = {paper.name: paper for paper in (PRUNING, EMSCO, PRODUCTS, EVOLUTION)}
"""By name."""
