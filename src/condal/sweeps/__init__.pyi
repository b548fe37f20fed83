from condal.sweeps.launch import sweep as sweep
from condal.sweeps.progress import Lines as Lines
from condal.sweeps.table import Entry as Entry
from condal.sweeps.table import Table as Table
