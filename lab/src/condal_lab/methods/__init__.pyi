from condal_lab.methods.cgs import CGS as CGS
from condal_lab.methods.ial import IAL as IAL
from condal_lab.methods.upd import AUPD as AUPD
from condal_lab.methods.upd import UPD as UPD
from condal_lab.methods.variants import GDMM as GDMM
from condal_lab.methods.variants import SketchyCGAL as SketchyCGAL
from condal_lab.methods.variants import SketchyCGM as SketchyCGM
from condal_lab.methods.variants import SmoothedCG as SmoothedCG
