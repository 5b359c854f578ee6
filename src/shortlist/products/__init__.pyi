# The public names, each once; shortlist._lazy reads this file too.

# Saved models name these by this package; they are not exported.
from shortlist.products.analysis import Analysis, Finding
from shortlist.products.analysis import analyse as analyse
from shortlist.products.analysis import diverse_products as diverse_products
from shortlist.products.analysis import uniform_sample as uniform_sample
from shortlist.products.attribute_files import read_attributes as read_attributes
from shortlist.products.attribute_files import save_attributes as save_attributes
from shortlist.products.attributes import Attribute, AttributeTable
from shortlist.products.attributes import chosen_attributes as chosen_attributes
from shortlist.products.attributes import model_attributes as model_attributes
from shortlist.products.choices import End, FeatureChoice, FinishedConfiguration, Side, ValuesLeft
from shortlist.products.choices import cost_of as cost_of
from shortlist.products.choices import finish as finish
from shortlist.products.choices import values_left as values_left
from shortlist.products.configuration.contradictions import Contradiction
from shortlist.products.configuration.explanation import Explanation
from shortlist.products.configuration.feasibility import LimitedModel
from shortlist.products.configuration.product_front import configure as configure
from shortlist.products.configuration.question import FeatureObjective, QuantityLimit
from shortlist.products.configuration.relaxations import Relaxation, Relaxations
from shortlist.products.configuration.requirements import Requirements as Requirements
from shortlist.products.configuration.requirements import read_requirements as read_requirements
from shortlist.products.conversion import Conversion, Edit, ModelDifference
from shortlist.products.conversion import convert_model as convert_model
from shortlist.products.conversion import difference as difference
from shortlist.products.decision_files import read_decisions as read_decisions
from shortlist.products.decision_files import staged_decisions as staged_decisions
from shortlist.products.decision_files import write_decisions as write_decisions
from shortlist.products.decisions import Decision as Decision
from shortlist.products.decisions import DecisionProblem, DecisionState
from shortlist.products.decisions import decide_feature as decide_feature
from shortlist.products.decisions import start as start
from shortlist.products.decisions import undo as undo
from shortlist.products.decisions import why as why
from shortlist.products.formats import read_model as read_model
from shortlist.products.formats import write_model as write_model
from shortlist.products.model import Constraint, Group
from shortlist.products.model import FeatureModel as FeatureModel
from shortlist.products.product_tables import ProductCheck, ProductTable
from shortlist.products.slicing import Slice
from shortlist.products.slicing import slice_model as slice_model
