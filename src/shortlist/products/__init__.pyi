# The public names, each once; shortlist._lazy reads this file too.

# Saved models name these by this package; they are not exported.
from shortlist.products.analysis.analysis import Analysis, Finding
from shortlist.products.analysis.analysis import analyse as analyse
from shortlist.products.analysis.differences import Edit, ModelDifference
from shortlist.products.analysis.differences import difference as difference
from shortlist.products.analysis.slicing import Slice
from shortlist.products.analysis.slicing import slice_model as slice_model
from shortlist.products.analysis.uniform import diverse_products as diverse_products
from shortlist.products.analysis.uniform import uniform_sample as uniform_sample
from shortlist.products.attributes.attribute import Attribute, AttributeTable
from shortlist.products.attributes.attribute import chosen_attributes as chosen_attributes
from shortlist.products.attributes.attribute import model_attributes as model_attributes
from shortlist.products.attributes.attribute_files import read_attributes as read_attributes
from shortlist.products.attributes.attribute_files import save_attributes as save_attributes
from shortlist.products.configuration.contradictions import Contradiction
from shortlist.products.configuration.explanation import Explanation
from shortlist.products.configuration.product_front import configure as configure
from shortlist.products.configuration.question import FeatureObjective, QuantityLimit
from shortlist.products.configuration.requirements import Requirements as Requirements
from shortlist.products.configuration.requirements import read_requirements as read_requirements
from shortlist.products.conversion import Conversion
from shortlist.products.conversion import convert_model as convert_model
from shortlist.products.decisions.choices import End, FeatureChoice, FinishedConfiguration, Side, ValuesLeft
from shortlist.products.decisions.choices import cost_of as cost_of
from shortlist.products.decisions.choices import finish as finish
from shortlist.products.decisions.choices import values_left as values_left
from shortlist.products.decisions.deciding import decide_feature as decide_feature
from shortlist.products.decisions.deciding import start as start
from shortlist.products.decisions.deciding import undo as undo
from shortlist.products.decisions.deciding import why as why
from shortlist.products.decisions.decision_files import read_decisions as read_decisions
from shortlist.products.decisions.decision_files import staged_decisions as staged_decisions
from shortlist.products.decisions.decision_files import write_decisions as write_decisions
from shortlist.products.decisions.decision_state import Decision as Decision
from shortlist.products.decisions.decision_state import DecisionProblem, DecisionState, LimitedModel
from shortlist.products.feature_models.model import Constraint, Group
from shortlist.products.feature_models.model import FeatureModel as FeatureModel
from shortlist.products.formats import read_model as read_model
from shortlist.products.formats import write_model as write_model
from shortlist.products.product_tables import ProductCheck, ProductTable
