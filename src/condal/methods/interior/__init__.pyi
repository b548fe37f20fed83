from condal.methods.interior.method import MOST_SECONDS as MOST_SECONDS
from condal.methods.interior.method import InteriorPoint as InteriorPoint
