from condal.problems.conic.answers import certify as certify
from condal.problems.conic.model import ConicModel as ConicModel
from condal.problems.conic.modelling import conic_model as conic_model
from condal.problems.conic.program import Block as Block
from condal.problems.conic.program import Program as Program
from condal.problems.conic.trace_bound import TraceBound as TraceBound
from condal.problems.conic.trace_bound import UnboundedTraceError as UnboundedTraceError
from condal.problems.conic.trace_bound import Verdict as Verdict
