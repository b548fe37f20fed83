"""Methods of the literature that the paper compares with: UPD, AUPD, IAL, CGS, GDMM and more."""
