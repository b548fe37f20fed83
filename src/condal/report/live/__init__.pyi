from condal.report.live.watch import Watch as Watch
