"""The papers whose experiments can be run again."""

from shortlist.reproduce.emsco import EMSCO
from shortlist.reproduce.evolution import EVOLUTION
from shortlist.reproduce.products import PRODUCTS
from shortlist.reproduce.pruning import PRUNING

PAPERS = {paper.name: paper for paper in (PRUNING, EMSCO, PRODUCTS, EVOLUTION)}
"""By name."""
