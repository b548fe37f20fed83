from condal.report.live.page import Watch as Watch
