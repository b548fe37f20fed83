from condal_lab.sweeps.progress import Lines as Lines
from condal_lab.sweeps.run import sweep as sweep
from condal_lab.sweeps.table import Entry as Entry
from condal_lab.sweeps.table import Table as Table
