"""List every best trade-off of an integer program: which machines to buy."""

from shortlist import solve_front

machines = ["mill", "lathe", "saw", "drill"]
front = solve_front(
    [[120, 75, 60, 45], [40, 22, 20, 13]],  # costs and values of the machines
    [[9, 6, 4, 3], [5, 3, 3, 1]],  # floor space and workers that each of them takes
    (0, [18, 9]),  # at most 18 of floor space, and 9 workers
    bounds=(0, 1),
    integrality=1,
    objectives="min cost, max value",
    names=machines,
)
print(f"{len(front)} best trade-offs, {front.proof.kind}")
print(front.to_frame(decisions=True).to_string(index=False))
