"""The container of everything that condal keeps on disk: checkpoints, results, sweeps, experiments.

A container is one file or one folder. It has a manifest, an object of strict JSON that states the
name of the format, the version of the format, the version of condal that wrote it, and SHA-256
digests of all that it holds.

* `manifest`: kinds of containers, manifests of folders, refusal of other versions
* `array_file`: containers of one file: a manifest, then the bytes of arrays
* `atomic`: files and folders that appear whole under their name, or not at all
* `lock`: one writer at a time
"""
