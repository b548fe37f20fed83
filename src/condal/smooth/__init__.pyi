from condal.smooth.function import Function as Function
from condal.smooth.likelihoods import Logistic as Logistic
from condal.smooth.likelihoods import Poisson as Poisson
from condal.smooth.linear import Linear as Linear
from condal.smooth.quadratic import FactoredQuadratic as FactoredQuadratic
from condal.smooth.quadratic import Quadratic as Quadratic
from condal.smooth.residuals import Huber as Huber
from condal.smooth.residuals import LeastSquares as LeastSquares
