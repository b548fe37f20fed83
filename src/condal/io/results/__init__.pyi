from condal.certificates.claims import Claim as Claim
from condal.certificates.verification import Verdict as Verdict
from condal.certificates.verification import verify as verify
from condal.io.results.reading import load as load
from condal.io.results.record import Saved as Saved
from condal.io.results.writing import save as save
