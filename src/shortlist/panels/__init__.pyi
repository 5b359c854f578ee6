# The public names, each once; shortlist._lazy reads this file too.

from shortlist.panels.answer_log import AnswerLog as AnswerLog
from shortlist.panels.answer_log import Measures as Measures
from shortlist.panels.answer_log import make_log as make_log
from shortlist.panels.policy import Panel as Panel
from shortlist.panels.saved_panels import load_panel as load_panel
