"""How fast bayesrule is beside others that give the same answer: ``python -m benchmarks --help``.

``jobs/`` says what is compared, ``contest`` asks whether the answers agree and only then times
them, ``timing`` does the timing, ``report`` prints it.
"""
