"""Studies: what was asked, and every unit of work that is finished, in one file that survives its process."""

from shortlist.runs.studies.study import NO_STUDY, Finished, Study, open_study

__all__ = ["NO_STUDY", "Finished", "Study", "open_study"]
