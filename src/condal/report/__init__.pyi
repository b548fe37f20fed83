from condal.report.pages import page as page
from condal.report.pages import write as write
