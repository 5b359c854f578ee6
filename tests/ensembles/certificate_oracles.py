"""Certificates of selections that tests choose."""

from shortlist.arrays import Mask
from shortlist.ensembles.goals.weights import ClassWeights, Weights
from shortlist.ensembles.proofs.certificate import Certificate, class_claim, threshold_claim, vote_certificate
from shortlist.ensembles.proofs.cuts import CutBound
from shortlist.ensembles.proofs.row_forms import RightRows
from shortlist.ensembles.votes.binary_votes import Votes, confusion
from shortlist.ensembles.votes.class_votes import ClassVotes


def threshold_certificate(
    votes: Votes, weights: Weights, rows: RightRows, bound: CutBound | int, *, mask: Mask, threshold: int
) -> Certificate:
    claim = threshold_claim(votes, weights, rows.limits, mask, threshold)
    return vote_certificate(claim, rows, bound, weights.total(confusion(votes, mask, threshold)))


def class_certificate(
    votes: ClassVotes, weights: ClassWeights, rows: RightRows, bound: CutBound | int, mask: Mask
) -> Certificate:
    claim = class_claim(votes, weights, rows.limits, mask)
    return vote_certificate(claim, rows, bound, weights.total(votes, mask))
