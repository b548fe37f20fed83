from condal.smooth.losses import Huber as Huber
from condal.smooth.losses import LeastSquares as LeastSquares
from condal.smooth.losses import Logistic as Logistic
from condal.smooth.losses import Poisson as Poisson
from condal.smooth.objectives import Function as Function
from condal.smooth.objectives import Linear as Linear
from condal.smooth.quadratic import FactoredQuadratic as FactoredQuadratic
from condal.smooth.quadratic import Quadratic as Quadratic
