from condal.sweeps.launch import sweep as sweep
from condal.sweeps.table import Entry as Entry
from condal.sweeps.table import Table as Table
from condal.sweeps.watch import Lines as Lines
